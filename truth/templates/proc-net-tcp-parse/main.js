'use strict';
const fs = require('fs');

const now = () => Number(process.hrtime.bigint()) / 1e9;

class Pool {
  constructor() {
    this.spent = 0;
  }

  @{fnCamel}() {
    if ('@{counted}' === 'summary') {
      const found = /^TCP: inuse (\d+)/m.exec(fs.readFileSync('/proc/net/sockstat', 'utf8'));
      return parseInt(found[1], 10);
    }
    const asked = now();
    const rows = fs.readFileSync('/proc/net/tcp', 'utf8').trim().split('\n').slice(1).map((line) => line.trim().split(/\s+/));
    const count = rows.filter((row) => row[3] === '01' && row[2].endsWith(':' + (@{port}).toString(16).toUpperCase())).length;
    this.spent += now() - asked;
    return count;
  }
}

function choose(count, n) {
  let sum = n;
  for (let i = 0; i < @{extra} * 3000; i++) sum = (sum * 31 + count) | 0;
  return sum;
}

const pool = new Pool();
const began = now();
let units = 0;
let busy = 0;

function next() {
  const start = now();
  choose(pool.@{fnCamel}(), units);
  units++;
  busy += now() - start;
  if (now() - began >= @{seconds}) {
    fs.writeFileSync('@{report}', JSON.stringify({ units, seconds: busy, culprit: pool.spent }));
    return;
  }
  setTimeout(next, Math.max(0, (began + units / @{rate} - now()) * 1000));
}

next();
