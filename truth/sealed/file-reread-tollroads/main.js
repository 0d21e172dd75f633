'use strict';
const crypto = require('crypto');
const fs = require('fs');

const clock = () => Number(process.hrtime.bigint()) / 1e9;
const ROW = 30; // number, kind, credit, discount

class Subscribers {
  constructor(path, keep) {
    this.fd = fs.openSync(path, 'r');
    this.block = Buffer.alloc(@{block} - (@{block} % ROW));
    this.known = null;
    if (keep) {
      this.known = new Map();
      this.each((rows) => {
        for (let at = 0; at < rows.length; at += ROW) this.known.set(rows.toString('latin1', at, at + 8), Buffer.from(rows.subarray(at, at + ROW)));
        return false;
      });
    }
  }

  each(look) {
    for (let from = 0; ;) {
      const got = fs.readSync(this.fd, this.block, 0, this.block.length, from);
      if (look(this.block.subarray(0, got)) || got < this.block.length) return;
      from += got;
    }
  }

  @{fnCamel}(transponder) {
    if (this.known) return this.parse(this.known.get(transponder));
    let row;
    this.each((rows) => {
      for (let at = rows.indexOf(transponder, 0, 'latin1'); at >= 0; at = rows.indexOf(transponder, at + 1, 'latin1')) {
        if (at % ROW === 0) {
          row = rows.subarray(at, at + ROW);
          return true;
        }
      }
      return false;
    });
    return this.parse(row);
  }

  parse(row) {
    if (!row) return null;
    const [, kind, credit, discount] = row.toString('latin1').trim().split(/ +/);
    return { kind, credit: Number(credit), discount: Number(discount) };
  }
}

function passage(n) {
  const noise = crypto.createHash('sha1').update(`${@{seed}}/${n}`).digest();
  const number = (1 + noise.readUInt32LE(0) % (@{rows} + (@{rows} >> 2))) * 7919 % 100000007;
  return { transponder: String(number).padStart(8, '0'), gate: noise[4] % @{gates}, km: 3 + noise[5] % 80 };
}

function price(one, subscriber) {
  const cents = one.km * (subscriber && subscriber.kind === 'truck' ? 21 : 9);
  return subscriber && subscriber.credit > cents ? Math.round(cents * (100 - subscriber.discount) / 100) : cents + 150;
}

async function main() {
  const subscribers = new Subscribers('@{list}', @{keep} === 1);
  const takings = new Array(@{gates}).fill(0);
  let chain = '';
  let units = 0, busy = 0, culprit = 0;
  const began = clock();
  while (clock() - began < @{seconds}) {
    const start = clock();
    const one = passage(units);
    const asked = clock();
    const subscriber = subscribers.@{fnCamel}(one.transponder);
    culprit += clock() - asked;
    const cents = price(one, subscriber);
    takings[one.gate] += cents;
    chain = crypto.createHash('sha256').update(`${chain}${one.transponder};${one.gate};${cents}`).digest('hex');
    units++;
    busy += clock() - start;
    const rest = began + units / @{rate} - clock();
    if (rest > 0) await new Promise((done) => setTimeout(done, rest * 1000));
  }
  console.log(`${units} passages, seal ${chain.slice(0, 12)}, best gate ${takings.indexOf(Math.max(...takings))}`);
  fs.writeFileSync('@{report}', JSON.stringify({ units, seconds: busy, culprit }));
}

main();
