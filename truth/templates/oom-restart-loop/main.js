// Scales pictures in a process of its own, so that a bad picture takes only that one down.
const { fork } = require("child_process");
const crypto = require("crypto");
const fs = require("fs");

const clock = () => Number(process.hrtime.bigint()) / 1e9;
const pause = (seconds) => new Promise((done) => setTimeout(done, Math.max(0, seconds) * 1000));

function scaler(firstMb) {
  fs.writeFileSync("/sys/fs/cgroup/memory/@{slice}/cgroup.procs", String(process.pid));
  const gamma = Array.from({ length: @{table} * 20 }, (_, i) => Math.pow(i, 1 / 2.2));
  const pictures = Array.from({ length: firstMb }, (_, i) => Buffer.alloc(1e6, i & 255));
  process.on("message", (number) => {
    pictures.push(Buffer.alloc(@{leak_kb} * 1000, number & 255));
    if (pictures.length > @{kept}) pictures.splice(0, pictures.length - @{kept});
    let mark = String(gamma[number % gamma.length]);
    for (let i = 0; i < @{rounds}; i++) mark = crypto.createHash("sha256").update(mark).digest("hex");
    process.send({ number, mark });
  });
  process.on("disconnect", () => process.exit(0));
}

class Scaling {
  constructor() {
    this.starts = 0;
    this.lost = 0;
  }

  start() {
    this.child = fork(__filename, ["scaler", String(this.starts++ ? 0 : @{first_mb})]);
    this.child.on("error", () => {});
  }

  @{fnCamel}(number) {
    const asked = clock();
    return new Promise((done) => {
      let failed = 0;
      const ask = () => {
        const child = this.child;
        child.once("message", (answer) => {
          child.removeAllListeners("exit");
          if (failed) this.lost += clock() - asked;
          done(answer);
        });
        child.once("exit", async (status, signal) => {
          console.log(`scaler ended with ${signal || status}`);
          child.removeAllListeners("message");
          failed++;
          await pause(@{backoff_ms} / 1000);
          this.start();
          ask();
        });
        if (child.connected) child.send(number, () => {});
      };
      ask();
    });
  }
}

async function main() {
  const scaling = new Scaling();
  scaling.start();
  await scaling.@{fnCamel}(0);
  scaling.lost = 0;
  const began = clock();
  let due = began, units = 0, busy = 0;
  while (clock() - began < @{seconds}) {
    const start = clock();
    await scaling.@{fnCamel}(units);
    busy += clock() - start;
    units++;
    due = Math.max(due + 1 / @{rate}, clock());
    await pause(due - clock());
  }
  scaling.child.removeAllListeners("exit");
  scaling.child.kill();
  fs.writeFileSync("@{report}", JSON.stringify({ units, seconds: busy, culprit: Math.min(busy, scaling.lost) }));
  process.exit(0);
}

if (process.argv[2] === "scaler") scaler(Number(process.argv[3]));
else main();
