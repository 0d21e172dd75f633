// A player's buffer: phrases are laid out of grains of a sample library, a moment before they sound.
const fs = require("fs");

const GRAIN = 4096, REGION = @{region_kb} * 1024, BLOCK = 256 * 1024;
const library = fs.openSync("@{work}/@{volume}/@{library}", "r");
const size = fs.fstatSync(library).size;
const room = Buffer.alloc(REGION);
let fetched = 0, seed = @{grains};

const now = () => Number(process.hrtime.bigint()) / 1e9;
const pick = (n) => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0, (seed >>> 8) % n);

function @{fnCamel}(at, length) {
  const start = now();
  const n = fs.readSync(library, room, 0, length, at);
  fetched += now() - start;
  return room.subarray(0, n);
}

function lay(phrase, grain, at) {
  for (let voice = 1; voice <= @{voices} * 4; voice++) {
    for (let i = 0; i + 1 < GRAIN; i += 2) {
      const rise = i < GRAIN / 2 ? i / GRAIN : 1 - i / GRAIN;
      phrase[(at + i / 2) % phrase.length] += (grain.readInt16LE(i) * rise) / voice;
    }
  }
}

function render(number) {
  const phrase = new Float32Array(GRAIN * 16);
  const first = ((number * 7) % Math.floor(size / REGION)) * REGION;
  if ("@{mode}" === "grains") {
    for (let i = 0; i < @{grains}; i++) lay(phrase, @{fnCamel}(first + pick(REGION / GRAIN) * GRAIN, GRAIN), i * 512);
  } else if ("@{mode}" === "instrument") {
    const all = @{fnCamel}(first, REGION);
    for (let i = 0; i < @{grains}; i++) lay(phrase, all.subarray(pick(REGION / GRAIN) * GRAIN), i * 512);
  } else {
    for (let track = 0; track < 4; track++) {
      const block = @{fnCamel}(Math.floor((size / 4) * track + number * BLOCK) & ~4095, BLOCK);
      for (let at = 0; at < BLOCK; at += GRAIN * 4) lay(phrase, block.subarray(at), at / 8);
    }
  }
  return phrase;
}

const began = now();
let units = 0, busy = 0, loudest = 0;

function next() {
  if (now() - began >= @{seconds}) {
    fs.writeFileSync("@{report}", JSON.stringify({ units, seconds: busy, culprit: fetched, loudest }));
    return;
  }
  const start = now();
  for (const sample of render(units)) loudest = Math.max(loudest, Math.abs(sample));
  units++;
  const took = now() - start;
  busy += took;
  setTimeout(next, Math.max(0, 1000 / @{per_s} - took * 1000));
}

next();
