// Watches over the lamps of a coast: which are dim, and whose battery will not last the night.
const crypto = require("crypto");
const fs = require("fs");
const http = require("http");

const LAST = @{last}, KEEP = @{keep};
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
const now = () => performance.now() / 1000;
let fetching = 0;

function @{fnCamel}(lamp) {
  const path = `/@{what}/lamp-${lamp}` + (LAST ? `?last=${LAST}` : "");
  return new Promise((done, fail) => {
    const parts = [];
    http.get({ host: "127.0.0.1", port: @{port}, path, agent }, (answer) => {
      answer.on("data", (part) => parts.push(part));
      answer.on("end", () => done(parts));
      answer.on("error", fail);
    }).on("error", fail);
  });
}

function lastLines(parts) {
  let text = "";
  for (let i = parts.length - 1; i >= 0 && text.length < 8192; i--) text = parts[i].toString("latin1") + text;
  return text.split("\n").slice(-@{some} - 1, -1).map((line) => {
    const [at, volts, wind, from, state] = line.split(";");
    return { at: Number(at), volts: Number(volts), wind: Number(wind), from, state };
  });
}

function judge(lamp, told) {
  let seal = Buffer.from(`lamp ${lamp}`);
  for (let i = 0; i < @{rounds}; i++) seal = crypto.createHash("sha256").update(seal).digest();
  const volts = told.reduce((sum, one) => sum + one.volts, 0) / told.length;
  return { lamp, low: volts < 12.1, dim: told.filter((one) => one.state === "dim").length, seal: seal.toString("hex") };
}

(async () => {
  let units = 0, busy = 0;
  const board = new Map();
  const began = now();
  while (now() - began < @{seconds}) {
    const start = now();
    const lamp = units % @{lamps};
    const parts = await @{fnCamel}(lamp);
    fetching += now() - start;
    if (KEEP) {
      const file = fs.openSync(`@{work}/lamp-${lamp}.csv`, "w");
      for (const part of parts) fs.writeSync(file, part);
      fs.closeSync(file);
    }
    board.set(lamp, judge(lamp, lastLines(parts)));
    units++;
    busy += now() - start;
    await new Promise((done) => setTimeout(done, Math.max(0, (began + units / @{rate} - now()) * 1000)));
  }
  agent.destroy();
  fs.writeFileSync("@{report}", JSON.stringify({ units, seconds: busy, culprit: fetching, lamps: board.size }));
})();
