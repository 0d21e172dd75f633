'use strict';
const fs = require('fs');

// The packing station: which item goes into which carton.
const LEVELS = { TRACE: 0, DEBUG: 1, INFO: 2 };
const config = { level: @{detail} ? '@{level}' : 'INFO', file: '@{work}/@{log}', keep: 96 << 20 };

class Log {
  constructor({ level, file, keep }) {
    this.least = LEVELS[level];
    this.file = file;
    this.keep = keep;
    this.spent = 0;
    this.roll();
  }

  roll() {
    if (this.fd !== undefined) {
      fs.closeSync(this.fd);
      fs.renameSync(this.file, `${this.file}.1`);
    }
    this.fd = fs.openSync(this.file, 'w');
    this.size = 0;
  }

  @{fnCamel}(level, message, context) {
    if (LEVELS[level] < this.least) return;
    const began = process.hrtime.bigint();
    const line = `${new Date().toISOString()} ${level} ${message} ${JSON.stringify(context)}\n`;
    this.size += fs.writeSync(this.fd, line);
    if (this.size > this.keep) this.roll();
    if (level !== 'INFO') this.spent += Number(process.hrtime.bigint() - began) / 1e9;
  }
}

const log = new Log(config);
let seed = 5;
const random = (n) => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed % n;
};

function pack(order) {
  const items = Array.from({ length: @{items} }, () => ({ sku: 10000 + random(90000), grams: 100 + random(3000), litres: 1 + random(20) }));
  items.sort((a, b) => b.litres - a.litres);
  const cartons = Array.from({ length: @{cartons} }, (_, no) => ({ no, grams: 0, litres: 0, skus: [] }));
  let left = 0;
  for (const item of items) {
    let best = null;
    for (let i = 0; i < @{tries}; i++) {
      const carton = cartons[random(cartons.length)];
      if (carton.grams + item.grams > 9000 || carton.litres + item.litres > 60) continue;
      if (!best || carton.litres > best.litres) best = carton;
    }
    if (!best) {
      left++;
      continue;
    }
    best.grams += item.grams;
    best.litres += item.litres;
    best.skus.push(item.sku);
    log.@{fnCamel}('@{level}', `order ${order} placed`, { item, into: best.no, cartons });
  }
  log.@{fnCamel}('INFO', `order ${order} packed`, { left });
}

const began = performance.now();
let units = 0;
let busy = 0;
function next() {
  const start = performance.now();
  pack(units++);
  busy += performance.now() - start;
  const now = performance.now();
  if (now - began >= @{seconds} * 1000) {
    fs.writeFileSync('@{report}', JSON.stringify({ units, seconds: busy / 1000, culprit: log.spent }));
    return;
  }
  setTimeout(next, Math.max(0, began + (units / @{rate}) * 1000 - now));
}
next();
