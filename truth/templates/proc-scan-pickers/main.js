// Gives orders to pickers: each has a process, which is told that there is something for it.
"use strict";
const fs = require("fs");

const known = new Map();
let finding = 0;

// The process of a picker; of none, all that there are are noted.
function @{fnCamel}(picker) {
  for (const pid of fs.readdirSync("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    let line;
    try {
      line = fs.readFileSync(`/proc/${pid}/cmdline`, "latin1");
    } catch {
      continue;
    }
    if (!line.startsWith("picker-")) continue;
    const number = parseInt(line.slice(7), 10);
    known.set(number, Number(pid));
    if (number === picker) return Number(pid);
  }
  return undefined;
}

function alive(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function processOf(picker) {
  const start = performance.now();
  const pid = known.get(picker);
  const found = "@{find}" === "known" && pid && alive(pid) ? pid : @{fnCamel}(picker);
  finding += performance.now() - start;
  return found;
}

async function main() {
  const orders = fs.createWriteStream("@{work}/orders.csv");
  @{fnCamel}();
  const tour = @{tour} > 0 ? setInterval(@{fnCamel}, 1000 * @{tour}) : undefined;
  const begin = performance.now();
  let units = 0;
  let busy = 0;
  while (performance.now() - begin < 1000 * @{seconds}) {
    const start = performance.now();
    const picker = ((units * 7919) % @{pickers}) + 1;
    const pid = processOf(picker);
    const lines = Array.from({ length: @{lines} }, (_, line) => `${units};${picker};shelf ${(units * 31 + line) % 900}\n`);
    orders.write(lines.join(""));
    if (pid) process.kill(pid, "SIGUSR1");
    units++;
    busy += performance.now() - start;
    await new Promise((due) => setTimeout(due, Math.max(0, begin + (1000 * units) / @{rate} - performance.now())));
  }
  clearInterval(tour);
  orders.end();
  fs.writeFileSync("@{report}", JSON.stringify({ units, seconds: busy / 1000, culprit: finding / 1000 }));
}

main();
