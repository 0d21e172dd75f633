// Labels for the tins of a cannery: each tin's number, its check digits, and its place on the pallet.
const crypto = require("crypto");
const fs = require("fs");

const now = () => Number(process.hrtime.bigint()) / 1e9;

class Trace {
  constructor(path, level) {
    this.file = fs.openSync(path, "a");
    this.level = level;
    this.spent = 0;
  }

  @{fnCamel}(tin, step, weight) {
    if (this.level < 3) return;
    const start = now();
    fs.writeSync(this.file, `TRACE label tin=${tin} step=${step} weight=${weight.toFixed(2)}\n`);
    this.spent += now() - start;
  }

  note(text) {
    const start = now();
    fs.writeSync(this.file, `INFO ${text}\n`);
    this.spent += now() - start;
  }
}

const trace = new Trace("@{work}/@{trace}", @{level});
const pallets = new Map();

function label(batch, tin) {
  let digits = `${batch}`.padStart(7, "0") + `${tin}`.padStart(4, "0");
  let weight = 400 + (tin % 9);
  for (let step = 0; step < @{steps}; step++) {
    let sum = 0;
    for (let i = 0; i < digits.length * @{cook}; i++) sum += digits.charCodeAt(i % digits.length) * (i % 2 ? 3 : 1);
    weight += (sum % 10) / 100;
    digits = digits.slice(1) + (sum % 10);
    trace.@{fnCamel}(tin, step, weight);
  }
  return `${digits}-${weight.toFixed(1)}`;
}

const began = now();
let units = 0, busy = 0, due = began;

function batch() {
  if (now() - began >= @{seconds}) {
    fs.writeFileSync("@{report}", JSON.stringify({ units, seconds: busy, culprit: trace.spent, pallets: pallets.size }));
    return;
  }
  const start = now();
  const labels = [];
  for (let tin = 0; tin < @{tins}; tin++) labels.push(label(units, tin));
  pallets.set(units % 30, crypto.createHash("sha1").update(labels.join()).digest("hex"));
  if (@{night} && units % 20 === 0) trace.note(`batch ${units}: ${labels.length} labels`);
  units++;
  busy += now() - start;
  due = Math.max(due + 1 / @{per_s}, now());
  setTimeout(batch, (due - now()) * 1000);
}

batch();
