// Bills the readings of water meters, by the zone in which each is.
'use strict';
const fs = require('fs');

const METERS = @{meters};
const ENTRY = 8;

class Table {
  constructor(path) {
    this.file = fs.openSync(path, 'r');
    this.one = Buffer.alloc(ENTRY);
    this.held = null;
    if (@{held}) this.hold();
  }

  hold() {
    this.held = Buffer.alloc(METERS * ENTRY);
    for (let at = 0; at < this.held.length;) at += fs.readSync(this.file, this.held, at, this.held.length - at, at);
  }

  @{fnCamel}(serial) {
    let low = 0;
    let high = METERS - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      let found = this.one;
      let at = 0;
      if (this.held) {
        found = this.held;
        at = middle * ENTRY;
      } else {
        fs.readSync(this.file, found, 0, ENTRY, middle * ENTRY);
      }
      const here = found.readUInt32LE(at);
      if (here === serial) return found.readUInt32LE(at + 4);
      if (here < serial) low = middle + 1;
      else high = middle - 1;
    }
    return null;
  }
}

let flow = 1;
function chance(below) {
  flow = (Math.imul(flow, 1664525) + 1013904223) >>> 0;
  return Math.floor(flow / 4294967296 * below);
}

function price(zone, days) {
  let sum = 0;
  for (let day = 0; day < days; day++) {
    const litres = chance(900);
    sum += litres * (0.002 + zone * 0.0001) + (litres > 600 ? (litres - 600) * 0.001 : 0);
  }
  return sum;
}

const clock = () => Number(process.hrtime.bigint()) / 1e9;

async function main() {
  const table = new Table('@{work}/@{zones}');
  const began = clock();
  let units = 0, busy = 0, culprit = 0, billed = 0;
  while (clock() - began < @{seconds}) {
    const start = clock();
    const zones = [];
    for (let i = 0; i < @{each}; i++) zones.push(table.@{fnCamel}(chance(METERS) * 17 + 5));
    culprit += clock() - start;
    for (const zone of zones) {
      if (zone !== null) billed += price(zone, Math.floor(@{asked} * @{days} / zones.length));
    }
    busy += clock() - start;
    units++;
    const rest = began + units / @{rate} - clock();
    if (rest > 0) await new Promise(then => setTimeout(then, rest * 1000));
  }
  console.error('billed', billed.toFixed(2));
  fs.writeFileSync('@{report}', JSON.stringify({ units, seconds: busy, culprit }));
}

main();
