// Renders kaleidoscopes: strips of a picture are made by workers side by side.
'use strict';
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const crypto = require('node:crypto');

const EDGE = @{edge}, WORKERS = @{workers};

function @{fnCamel}({ picture, from, to }) {
  const wedge = 2 * Math.PI / @{mirrors}, rows = Buffer.alloc((to - from) * EDGE);
  for (let y = from; y < to; y++) {
    for (let x = 0; x < EDGE; x++) {
      const dx = x - EDGE / 2, dy = y - EDGE / 2;
      const angle = Math.abs((Math.atan2(dy, dx) + 4 * Math.PI) % wedge - wedge / 2);
      let u = Math.hypot(dx, dy) * 0.13 + picture * 0.01, v = angle * 7;
      for (let pass = 0; pass < @{used}; pass++) {
        const next = u * 0.83 + v * v * 0.003 - 0.4;
        v = v * 0.91 + u * 0.17 - 0.02;
        u = next;
      }
      rows[(y - from) * EDGE + x] = Math.floor(u * 40 + v * 11) & 255;
    }
  }
  return rows.toString('base64');
}

class Worker {
  constructor() {
    const cpus = process.env.WORKER_CPUS;
    const words = [process.execPath, __filename, 'strip'];
    if (cpus) words.unshift('taskset', '-c', cpus);
    this.child = spawn(words[0], words.slice(1), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.child.on('message', rows => this.take(rows));
  }

  make(strip) {
    return new Promise(take => {
      this.take = take;
      this.child.send(strip);
    });
  }
}

const pause = ms => new Promise(done => setTimeout(done, ms));
const now = () => performance.now() / 1000;

async function main() {
  const workers = Array.from({ length: WORKERS }, () => new Worker());
  await Promise.all(workers.map(one => one.make({ picture: 0, from: 0, to: 2 })));
  let units = 0, busy = 0, sum = '';
  const began = now();
  while (now() - began < @{seconds}) {
    const start = now();
    const rows = await Promise.all(workers.map((one, n) =>
      one.make({ picture: units, from: Math.floor(n * EDGE / WORKERS), to: Math.floor((n + 1) * EDGE / WORKERS) })));
    sum = crypto.createHash('sha1').update(rows.join('')).digest('hex');
    units++;
    busy += now() - start;
    await pause(Math.max(0, (began + units / @{rate} - now()) * 1000));
  }
  fs.writeFileSync('@{report}', JSON.stringify({ units, seconds: busy, sum }));
  workers.forEach(one => one.child.disconnect());
}

if (process.argv[2] === 'strip') process.on('message', strip => process.send(@{fnCamel}(strip)));
else main();
