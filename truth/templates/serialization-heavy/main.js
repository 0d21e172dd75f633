const fs = require("fs");
const now = () => performance.now() / 1000;
const waitUntil = (due) => new Promise((done) => setTimeout(done, Math.max(0, (due - now()) * 1000)));

function report(units, busy, culprit) {
  fs.writeFileSync("@{report}", JSON.stringify({ units, seconds: busy, culprit }));
}

const carts = Array.from({ length: @{entries} }, (_, id) => ({
  id, owner: "customer " + id, open: id % 3 === 0,
  lines: Array.from({ length: @{width} }, (_, n) => ({ sku: "A" + id * n, count: n, price: id / 7 })),
}));
let copying = 0;

// Observers get a state of their own, which they may change.
function @{fnCamel}(first, count) {
  const start = now();
  const copy = JSON.parse(JSON.stringify(carts.slice(first, first + count)));
  copying += now() - start;
  return copy;
}

(async () => {
  let units = 0, busy = 0, open = 0;
  const began = now();
  while (now() - began < @{seconds}) {
    const start = now();
    const cart = (units * 131) % carts.length;
    carts[cart].open = !carts[cart].open;
    open += @{fnCamel}(@{used} === carts.length ? 0 : Math.min(cart, carts.length - @{used}), @{used}).length;
    units++;
    busy += now() - start;
    await waitUntil(began + units / @{rate});
  }
  report(units, busy, copying);
})();
