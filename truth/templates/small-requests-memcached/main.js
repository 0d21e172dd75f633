'use strict';
const net = require('net');
const fs = require('fs');
const crypto = require('crypto');

// Draws the price board from the cache.
const cache = net.connect({ port: @{cache}, host: '127.0.0.1', noDelay: true });
const now = () => Number(process.hrtime.bigint()) / 1e9;
let spent = 0;

function @{fnCamel}(keys) {
  return new Promise((resolve) => {
    const parts = [];
    const take = (part) => {
      parts.push(part);
      if (part.length >= 5 ? !part.subarray(-5).equals(Buffer.from('END\r\n')) : !Buffer.concat(parts).toString().endsWith('END\r\n')) return;
      cache.off('data', take);
      resolve(Buffer.concat(parts).toString('latin1'));
    };
    cache.on('data', take);
    cache.write(`get ${keys.join(' ')}\r\n`);
  });
}

async function board() {
  let text = '';
  const began = now();
  for (let first = 0; first < @{shown}; first += @{at_once}) {
    const keys = [];
    for (let i = first; i < Math.min(@{shown}, first + @{at_once}); i++) keys.push(`@{prefix}:${i}`);
    text += await @{fnCamel}(keys);
  }
  spent += now() - began;
  const hash = crypto.createHash('sha1');
  for (let i = 0; i < @{rounds}; i++) hash.update(text);
  return hash.digest('hex');
}

async function main() {
  const began = now();
  let units = 0, busy = 0;
  const boards = [];
  while (now() - began < @{seconds}) {
    const start = now();
    boards[units++ % 20] = await board();
    busy += now() - start;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, (began + units / @{pace} - now()) * 1000)));
  }
  fs.writeFileSync('@{report}', JSON.stringify({ units, seconds: busy, culprit: spent }));
  process.exit(0);
}
main();
