// Puts calls through to the office that has the fewest, as long as the exchange has lines.
const fs = require("fs/promises");
const { performance } = require("perf_hooks");

const most = Math.ceil((@{lines} * 200) / @{limit});
const offices = new Map(["north", "south", "harbour", "airport"].map((name) => [name, []]));
let asking = 0;

async function @{fnCamel}() {
  const begun = performance.now();
  const text = await fs.readFile("/proc/net/@{source}", "latin1");
  let lines = 0;
  if ("@{source}" === "sockstat") {
    lines = Number(/^TCP: inuse (\d+)/m.exec(text)[1]) / 2;
  } else {
    for (const line of text.split("\n").slice(1)) {
      const [, local, , state] = line.trim().split(/\s+/);
      if (state === "01" && parseInt(local.split(":")[1], 16) === @{port}) lines++;
    }
  }
  asking += performance.now() - begun;
  return lines;
}

async function connect(call) {
  const used = await @{fnCamel}();
  if (used >= most) return false;
  const [name, calls] = [...offices].sort((one, other) => one[1].length - other[1].length)[0];
  calls.push({ call, at: new Date().toISOString(), used });
  if (calls.length > 40) offices.set(name, calls.slice(20));
  return true;
}

async function main() {
  const began = performance.now();
  let busy = 0;
  let units = 0;
  let refused = 0;
  while (performance.now() - began < @{seconds} * 1000) {
    const start = performance.now();
    if (!(await connect(units))) refused++;
    units++;
    busy += performance.now() - start;
    const rest = began + (units * 1000) / @{calls} - performance.now();
    if (rest > 0) await new Promise((go) => setTimeout(go, rest));
  }
  await fs.writeFile("@{report}", JSON.stringify({ units, seconds: busy / 1000, culprit: asking / 1000, refused }));
}

main();
