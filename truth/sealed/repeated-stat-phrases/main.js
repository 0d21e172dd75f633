// Writes letters from phrases of a catalogue, which translators may change at any time.
"use strict";
const fs = require("fs");

const catalogue = "@{work}/@{content}/lang/de/letters/@{catalogue}";
let changed = 0;
let texts = {};
let looking = 0;

function @{fnCamel}() {
  const start = performance.now();
  const time = fs.statSync(catalogue).mtimeMs;
  if (time !== changed) {
    texts = JSON.parse(fs.readFileSync(catalogue, "utf8"));
    changed = time;
  }
  looking += performance.now() - start;
}

function phrase(key) {
  if ("@{look}" === "phrase") @{fnCamel}();
  return texts[key];
}

function letter(number) {
  if ("@{look}" === "letter") @{fnCamel}();
  const lines = [];
  for (let i = 0; i < @{used}; i++) {
    lines.push(phrase(`phrase-${((number + i) % @{phrases}) + 1}`).replace("{name}", `customer ${number}`));
  }
  return lines.join("\n");
}

async function main() {
  @{fnCamel}();
  const timer = "@{look}" === "tick" ? setInterval(@{fnCamel}, 1000 * @{tick}) : undefined;
  const begin = performance.now();
  let units = 0;
  let busy = 0;
  let size = 0;
  while (performance.now() - begin < 1000 * @{seconds}) {
    const start = performance.now();
    size += letter(units).length;
    units++;
    busy += performance.now() - start;
    await new Promise((due) => setTimeout(due, Math.max(0, begin + (1000 * units) / @{rate} - performance.now())));
  }
  clearInterval(timer);
  fs.writeFileSync("@{report}", JSON.stringify({ units, seconds: busy / 1000, culprit: looking / 1000 }));
}

main();
