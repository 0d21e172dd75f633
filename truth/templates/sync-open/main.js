// Delivers notices: each delivery is written down before the next one.
const fs = require("fs");
const crypto = require("crypto");

const clock = () => Number(process.hrtime.bigint()) / 1e9;
const pause = (seconds) => new Promise((done) => setTimeout(done, seconds * 1000));

class Deliveries {
  constructor(path) {
    this.file = fs.openSync(path, "@{node_flag}", 0o640);
    this.spent = 0;
  }

  @{fnCamel}(entry) {
    const start = clock();
    const line = JSON.stringify(entry) + "\n";
    for (let i = 0; i < @{lines}; i++) fs.writeSync(this.file, line);
    this.spent += clock() - start;
  }
}

function render(notice) {
  let mark = notice.text;
  for (let i = 0; i < @{rounds} / 100; i++) mark = crypto.createHash("sha1").update(mark).digest("hex");
  return { ...notice, mark };
}

async function main() {
  const deliveries = new Deliveries("@{work}/@{log}");
  const began = clock();
  const text = "n".repeat(@{bytes});
  // A handful of notices are due at each step of the clock.
  const step = Math.max(0.01, 1 / @{per_s});
  let units = 0, busy = 0, due = began, owed = 0;
  while (clock() - began < @{seconds}) {
    owed += step * @{per_s};
    for (; owed >= 1; owed--) {
      const start = clock();
      deliveries.@{fnCamel}(render({ id: units, text }));
      busy += clock() - start;
      units++;
    }
    due = Math.max(due + step, clock());
    await pause(Math.max(0.001, due - clock()));
  }
  fs.writeFileSync("@{report}", JSON.stringify({ units, seconds: busy, culprit: deliveries.spent }));
}

main();
