'use strict';
const fs = require('fs');

/** Stitches of a motif, one after the other, with little jumps in between. */
function* digitize(number) {
  let x = 0;
  let y = 0;
  for (let i = 0; i < @{stitches}; i++) {
    const t = i * 0.01 + number;
    for (let k = 0; k < @{smooth} / 2; k++) {
      x = (x + 400 * Math.sin(3 * t)) / 2;
      y = (y + 400 * Math.cos(2 * t)) / 2;
    }
    yield { x, y, thread: Math.floor(i / 700) % 12 };
  }
}

class Design {
  constructor(path) {
    this.fd = fs.openSync(path, 'w');
    this.path = path;
    this.held = [];
    this.at = 0;
    this.spent = 0;
  }

  begin() {
    if (this.at < 120 << 20) return;
    // The memory card is full: the next one.
    fs.closeSync(this.fd);
    fs.renameSync(this.path, `${this.path}.full`);
    this.fd = fs.openSync(this.path, 'w');
    this.at = 0;
  }

  @{fnCamel}(stitch) {
    const began = process.hrtime.bigint();
    const record = Buffer.alloc(9 + @{spare}, ' ');
    record.writeUInt8(stitch.thread, 0);
    record.writeInt32LE(Math.round(stitch.x * 10), 1);
    record.writeInt32LE(Math.round(stitch.y * 10), 5);
    if (@{at_once}) this.at += fs.writeSync(this.fd, record);
    else this.held.push(record);
    this.spent += Number(process.hrtime.bigint() - began) / 1e9;
  }

  end() {
    if (this.held.length) this.at += fs.writeSync(this.fd, Buffer.concat(this.held));
    this.held = [];
  }
}

const design = new Design('@{work}/@{file}');
const began = performance.now();
let units = 0;
let busy = 0;

function work() {
  const start = performance.now();
  let count = 0;
  design.begin();
  for (const stitch of digitize(units)) {
    design.@{fnCamel}(stitch);
    count++;
  }
  design.end();
  if (@{note}) fs.appendFileSync('@{work}/shop.txt', `design ${units} has ${count} stitches\n`);
  units++;
  busy += performance.now() - start;
  const now = performance.now();
  if (now - began < @{seconds} * 1000) {
    setTimeout(work, Math.max(0, began + (units / @{rate}) * 1000 - now));
    return;
  }
  fs.writeFileSync('@{report}', JSON.stringify({ units, seconds: busy / 1000, culprit: design.spent }));
}
work();
