// Prices the orders that come in.
const fs = require("fs");

const now = () => Number(process.hrtime.bigint()) / 1e9;
const spent = { units: 0, seconds: 0, culprit: 0 };
let kept = null;

function @{fnCamel}() {
  const prices = {};
  const text = fs.readFileSync("@{work}/@{table}", "latin1");
  let at = 0;
  while (at < text.length) {
    const end = text.indexOf("\n", at);
    prices[text.slice(at, at + 7)] = text.slice(at + 8, end);
    at = end + 1;
  }
  return prices;
}

class Pricing {
  constructor(keep) {
    this.keep = keep;
  }

  table() {
    if (!this.keep) return @{fnCamel}();
    return (kept = kept || @{fnCamel}());
  }

  total(order) {
    const start = now();
    const prices = this.table();
    spent.culprit += now() - start;
    return order.items.reduce((sum, item) => sum + parseFloat(prices[item]), 0);
  }
}

const pricing = new Pricing(@{kept} === 1);
if (@{kept}) pricing.table();
const rate = Math.min(150, (@{load} * 6e6) / @{rows} / 1);
const began = now();
let sum = 0;

function next() {
  const start = now();
  if (start - began >= @{seconds}) {
    fs.writeFileSync("@{report}", JSON.stringify(spent));
    return;
  }
  const items = Array.from({ length: 1 + (spent.units % 9) }, (_, i) => "K" + String((spent.units * 31 + i * 17) % @{rows}).padStart(6, "0"));
  sum += pricing.total({ items });
  if (@{notices} && spent.units % 4 === 0) sum += fs.readFileSync("@{work}/@{notice}").length;
  spent.units++;
  spent.seconds += now() - start;
  setTimeout(next, Math.max(0, (began + spent.units / rate - now()) * 1000));
}

next();
