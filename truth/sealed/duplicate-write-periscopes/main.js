// Records the frames of a look-out camera in a ring, the oldest of which is replaced by the newest.
const crypto = require("crypto");
const fs = require("fs");
const path = require("path");

const FRAME = @{frame_kb} << 10;
const SLOTS = @{slots};
const NOTES = @{notes};
const now = () => Number(process.hrtime.bigint()) / 1e9;
const open = (name) => fs.openSync(path.join("@{work}", name), fs.constants.O_RDWR | fs.constants.O_CREAT);

class Camera {
  constructor() {
    this.row = Buffer.alloc(4096);
    this.frame = Buffer.alloc(FRAME);
  }

  // The sea, and what moves on it; each time an eighth of its rows is new.
  shoot(number) {
    for (let i = 0; i < this.row.length; i++) this.row[i] = (i * number >> 4) + number;
    for (let at = 16 + number % 8 * 4096; at < FRAME; at += 8 * 4096) this.row.copy(this.frame, at, at >> 12 & 1023);
    this.frame.writeUInt32LE(number, 0);
    crypto.createHash("md5").update(this.frame.subarray(16, 4096)).digest().copy(this.frame, 4, 0, 12);
    return this.frame;
  }
}

class Recorder {
  constructor(names) {
    this.rings = names.map(open);
    this.log = open("@{events}");
    this.audit = open("@{audit}");
    this.twice = 0;
  }

  @{fnCamel}(frame, number) {
    const at = number % SLOTS * FRAME;
    this.rings.forEach((ring, i) => {
      const start = now();
      // Readers of the old format take a round from its start.
      if (i > 0 && at === 0) fs.ftruncateSync(ring, 0);
      fs.writeSync(ring, frame, 0, FRAME, at);
      if (i > 0) this.twice += now() - start;
    });
  }

  note(frame, number) {
    const line = `${number} movement ${frame.toString("hex", 4, 16)}\n`;
    fs.writeSync(this.log, line);
    fs.writeSync(this.audit, line);
  }
}

async function main() {
  const camera = new Camera();
  const recorder = new Recorder("@{outputs}".split(" "));
  const began = now();
  let units = 0;
  let busy = 0;
  while (now() - began < @{seconds}) {
    const start = now();
    const frame = camera.shoot(units);
    recorder.@{fnCamel}(frame, units);
    if (NOTES && units % NOTES === 0) recorder.note(frame, units);
    units++;
    busy += now() - start;
    const rest = began + units / @{rate} - now();
    if (rest > 0) await new Promise((done) => setTimeout(done, rest * 1000));
  }
  fs.writeFileSync("@{report}", JSON.stringify({ units, seconds: busy, culprit: recorder.twice }));
}

main();
