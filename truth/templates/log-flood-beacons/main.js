'use strict';
// Receives bursts of distress beacons, decodes them, and keeps their positions.
const fs = require('node:fs');
const { performance } = require('node:perf_hooks');

const CHATTY = @{chatty};
const log = fs.openSync('@{work}/@{log}', 'a');
const positions = fs.openSync('@{work}/@{positions}', 'a');
let logging = 0;

function @{fnCamel}(level, what, symbols) {
  if (!CHATTY && level === '@{level}') return;
  const start = performance.now();
  fs.writeSync(log, `${new Date().toISOString()} ${level} decoder: ${what} ${symbols.join(' ')}\n`);
  logging += performance.now() - start;
}

// What the antenna brought: stands for the receiver's samples.
function burst(number) {
  let state = (Math.imul(number + 1, 0x9e3779b9) | 1) >>> 0;
  const symbols = new Int32Array(@{symbols});
  for (let i = 0; i < symbols.length; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    symbols[i] = (state >>> 18) - 8192;
  }
  return symbols;
}

function decode(number, symbols) {
  let now = symbols;
  let next = new Int32Array(symbols.length);
  for (let step = 0; step < @{steps}; step++) {
    for (let at = 0; at < now.length; at++) {
      let sum = 0;
      for (let tap = 0; tap < @{taps}; tap++) sum += now[(at + tap * 5) % now.length] * (9 - (tap + step) % 17);
      next[at] = sum % 9973;
    }
    [now, next] = [next, now];
    @{fnCamel}('@{level}', `burst ${number} step ${step} symbols`, now);
  }
  return now;
}

async function main() {
  const began = performance.now();
  let units = 0;
  let busy = 0;
  while (performance.now() - began < @{seconds} * 1000) {
    const start = performance.now();
    const symbols = decode(units, burst(units));
    const sum = symbols.reduce((all, symbol) => all + symbol, 0);
    fs.writeSync(positions, `${units};${(sum / 9973).toFixed(4)};${(symbols[0] / 99).toFixed(4)};${symbols.join(';')}\n`);
    if (units % @{line_each} === 0) @{fnCamel}('INFO', `burst ${units} decoded, sum ${sum}`, []);
    units++;
    busy += performance.now() - start;
    const rest = units * 1000 / @{bursts} - (performance.now() - began);
    if (rest > 0) await new Promise((resolve) => setTimeout(resolve, rest));
  }
  fs.writeFileSync('@{report}', JSON.stringify({ units, seconds: busy / 1000, culprit: logging / 1000 }));
}

main();
