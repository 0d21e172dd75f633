// Prices what the floats of a parade order: flowers, tractors, bands. A change of a price is announced to the orders on the board.
const fs = require("fs");
const { performance, PerformanceObserver } = require("perf_hooks");

let collecting = 0;
new PerformanceObserver((list) => list.getEntries().forEach((entry) => (collecting += entry.duration))).observe({ entryTypes: ["gc"] });

const catalogue = Array.from({ length: @{town} }, (_, n) => ({ name: `item ${n}`, cents: (n * 37) % 900, stock: [n, n % 7, n % 13] }));

class Board {
  constructor(most) {
    this.most = most;
    this.orders = [];
  }

  @{fnCamel}(order) {
    this.orders.push(order);
    if (this.orders.length > this.most) this.orders.shift();
  }

  announce(item, cents) {
    for (const order of this.orders.slice(-20)) order.changed.set(item, cents);
  }
}

const board = new Board(@{open});
const years = new Map();

function place(number) {
  const order = { number, changed: new Map(), lines: [] };
  for (let i = 0; i < @{positions}; i++) {
    const item = catalogue[(number * 31 + i * 7) % catalogue.length];
    order.lines.push({ item: item.name, pieces: 1 + ((number + i) % 9), price: { cents: item.cents, tax: item.cents * 0.07 } });
  }
  board.@{fnCamel}(order);
  return order;
}

function total(order) {
  let sum = 0;
  for (const line of order.lines) sum += line.pieces * (line.price.cents + line.price.tax);
  return sum;
}

async function main() {
  const began = performance.now();
  let units = 0;
  let busy = 0;
  while (performance.now() - began < @{seconds} * 1000) {
    const start = performance.now();
    const order = place(units);
    const sum = total(order);
    if (years.size < @{warm}) years.set(units, [sum, order.lines.map((line) => line.price)]);
    if (units % 100 === 0) board.announce(`item ${units}`, units);
    units++;
    busy += performance.now() - start;
    const rest = began + (units * 1000) / @{rate} - performance.now();
    if (rest > 0) await new Promise((go) => setTimeout(go, rest));
  }
  await new Promise((go) => setTimeout(go, 20));
  const seconds = busy / 1000;
  fs.writeFileSync("@{report}", JSON.stringify({ units, seconds, culprit: Math.min(seconds, collecting / 1000) }));
}

main();
