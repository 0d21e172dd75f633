const fs = require("fs");
const now = () => performance.now() / 1000;
const waitUntil = (due) => new Promise((done) => setTimeout(done, Math.max(0, (due - now()) * 1000)));

function report(units, busy, culprit) {
  fs.writeFileSync("@{report}", JSON.stringify({ units, seconds: busy, culprit }));
}
const { PerformanceObserver } = require("perf_hooks");

let collected = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) collected += entry.duration / 1000;
}).observe({ entryTypes: ["gc"] });

class Item {
  constructor(id, round) {
    this.id = id;
    this.price = { net: id % 97, gross: (id % 97) * 1.19 };
    this.tags = [round, id & 7, null];
  }
  renew(round) {
    this.price.net = (this.id + round) % 97;
    this.price.gross = this.price.net * 1.19;
    this.tags[0] = round;
  }
}

const stock = Array.from({ length: @{live} }, (_, id) => new Item(id, 0));

function @{fnCamel}(round, count) {
  let sum = 0;
  for (let i = 0; i < count; i++) {
    const id = (round * count + i) % stock.length;
    if (@{reuse} === 1) stock[id].renew(round);
    else stock[id] = new Item(id, round);
    sum += stock[id].price.gross;
  }
  return sum;
}

async function main() {
  let units = 0, busy = 0, sum = 0;
  const began = now();
  collected = 0;
  while (now() - began < @{seconds}) {
    const start = now();
    sum += @{fnCamel}(units, @{used});
    units++;
    busy += now() - start;
    await waitUntil(began + units / @{rate});
  }
  report(units, busy, Math.min(busy, collected));
  console.log(sum);
}

main();
