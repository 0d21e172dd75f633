'use strict';
const net = require('net');
const fs = require('fs');
const zlib = require('zlib');

// Ships measurements to the hub; what cannot be shipped is kept.
const hubs = [@{first}, @{hub}];
const now = () => Number(process.hrtime.bigint()) / 1e9;
const later = (s) => new Promise((resolve) => setTimeout(resolve, Math.max(0, s * 1000)));
let line = null;
let spent = 0;

function dial(port) {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.setNoDelay(true);
    socket.once('connect', () => resolve(socket));
    socket.once('error', () => resolve(null));
  });
}

async function @{fnCamel}() {
  const began = now();
  for (let i = 0; i < @{tries} && line === null; i++) {
    for (const port of hubs) {
      line = line || await dial(port);
    }
    if (line === null && @{pause}) await later(@{pause} / 1000);
  }
  spent += now() - began;
  return line;
}

function ship(text) {
  return new Promise((resolve) => {
    line.once('data', resolve);
    line.write(text + '\n');
  });
}

async function main() {
  const began = now();
  const kept = [];
  let units = 0, busy = 0;
  while (now() - began < @{seconds}) {
    const start = now();
    const record = zlib.deflateSync(JSON.stringify({ sensor: units % 40, values: Array.from({ length: 60 }, Math.random) })).toString('base64');
    if (await @{fnCamel}()) await ship(record);
    else kept[units % 100] = record;
    if (++units % @{renew} === 0 && line) { line.destroy(); line = null; }
    busy += now() - start;
    await later(began + units / @{pace} - now());
  }
  fs.writeFileSync('@{report}', JSON.stringify({ units, seconds: busy, culprit: spent }));
  process.exit(0);
}
main();
