// Answers what the weather is at a place: reads the cell's samples, and marks when the cell was of use.
'use strict';
const fs = require('fs');
const path = require('path');
const { setTimeout: pause } = require('timers/promises');

const now = () => performance.now() / 1000;
let marking = 0;

async function sample(cell, turn) {
  const grid = await fs.promises.open(path.join('@{work}/run/@{grids}', `cell${cell}.grid`), 'r');
  try {
    const row = Buffer.alloc(4 * @{samples});
    await grid.read(row, 0, row.length, (turn % 7) * 512);
    let mean = 0;
    for (let at = 0; at < row.length; at += 4) mean += ((row.readUInt32LE(at) % 6000) / 100 - 20) / @{samples};
    return mean;
  } finally {
    await grid.close();
  }
}

function @{fn}(cell, mean) {
  const start = now();
  const grid = fs.openSync(path.join('@{work}/@{marks}', `cell${cell}.grid`), fs.constants.O_RDWR | fs.constants.O_CREAT, 0o644);
  const head = Buffer.alloc(16);
  head.writeBigUInt64LE(BigInt(Math.floor(Date.now() / 1000)));
  head.writeDoubleLE(mean, 8);
  fs.writeSync(grid, head, 0, 16, 0);
  fs.closeSync(grid);
  marking += now() - start;
}

async function main() {
  const began = now();
  let turn = 0, busy = 0;
  while (now() - began < @{seconds}) {
    const start = now();
    const cell = turn % @{cells};
    @{fn}(cell, await sample(cell, turn));
    turn++;
    const took = now() - start;
    busy += took;
    await pause(Math.max(0, 1000 / @{rate} - took * 1000));
  }
  fs.writeFileSync('@{report}', JSON.stringify({ units: turn, seconds: busy, culprit: marking }));
}

main();
