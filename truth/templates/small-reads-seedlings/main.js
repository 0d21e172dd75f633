// Imports what the loggers in the greenhouses of a nursery have recorded: one file for each bed.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { setTimeout: pause } = require("node:timers/promises");

const REST = [@{short}, @{long}, @{short}, @{short} + 8];
const seconds = () => performance.now() / 1000;

/** Gives the next bytes of a file, by its descriptor or from what was read ahead. */
class Source {
  constructor(descriptor, ahead) {
    this.descriptor = descriptor;
    this.ahead = ahead ? Buffer.allocUnsafe(ahead) : null;
    this.part = Buffer.allocUnsafe(512);
    this.from = this.to = 0;
  }

  next(count) {
    if (!this.ahead) {
      return fs.readSync(this.descriptor, this.part, 0, count, null) === count ? this.part : null;
    }
    if (this.to - this.from < count) {
      this.ahead.copyWithin(0, this.from, this.to);
      this.to -= this.from;
      this.from = 0;
      this.to += fs.readSync(this.descriptor, this.ahead, this.to, this.ahead.length - this.to, null);
      if (this.to < count) return null;
    }
    this.ahead.copy(this.part, 0, this.from, this.from + count);
    this.from += count;
    return this.part;
  }
}

function @{fnCamel}(source, most) {
  const bed = { warmth: 0, wet: 0, records: 0, byKind: [0, 0, 0, 0] };
  while (!most || bed.records < most) {
    const head = source.next(@{head});
    if (!head) break;
    const kind = head[0] & 3;
    const rest = source.next(REST[kind]);
    if (!rest) break;
    bed.warmth += rest.readUInt16LE(2);
    bed.wet += rest[5] > 200 ? 1 : 0;
    bed.byKind[kind]++;
    bed.records++;
  }
  return bed;
}

async function main(inbox) {
  const beds = fs.readdirSync(inbox).sort().map((name) => path.join(inbox, name));
  let units = 0, busy = 0, spent = 0, thirsty = 0;
  const began = seconds();
  while (seconds() - began < @{seconds}) {
    const start = seconds();
    const descriptor = fs.openSync(beds[units % beds.length]);
    const reading = seconds();
    const bed = @{fnCamel}(new Source(descriptor, @{buffer}), @{used});
    if (!@{buffer}) spent += seconds() - reading;
    fs.closeSync(descriptor);
    if (bed.wet < 10 || bed.warmth / (1 + bed.records) > 40000) thirsty++;
    units++;
    busy += seconds() - start;
    await pause(Math.max(0, (began + units / @{rate} - seconds()) * 1000));
  }
  console.log(`${thirsty} beds to water`);
  fs.writeFileSync("@{report}", JSON.stringify({ units, seconds: busy, culprit: spent }));
}

main(process.argv[2]);
