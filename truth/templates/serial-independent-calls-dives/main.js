// Plans dives: what the bureaus say of a site and a day, and the stops on the way up.
const http = require("http");
const net = require("net");

const agent = new http.Agent({ keepAlive: true, maxSockets: 16 });
const bureaus = [
  ["tide", @{tide}], ["weather", @{weather}], ["swell", @{swell}], ["boat", @{boat}], ["chamber", @{chamber}],
].slice(0, @{asked});

function ask([name, port], query) {
  return new Promise((resolve, reject) => {
    const call = http.get({ host: "127.0.0.1", port, agent, path: `/${name}?${query}` }, (answer) => {
      const parts = [];
      answer.on("data", (part) => parts.push(part));
      answer.on("end", () => resolve(JSON.parse(Buffer.concat(parts))));
      answer.on("error", reject);
    });
    call.on("error", reject);
  });
}

async function @{fnCamel}(site, day) {
  const known = {};
  if ("@{way}" === "together") {
    const answers = await Promise.all(bureaus.map((bureau) => ask(bureau, `site=${site}&day=${day}`)));
    bureaus.forEach(([name], i) => { known[name] = answers[i]; });
    return known;
  }
  let query = `site=${site}&day=${day}`;
  for (const bureau of bureaus) {
    const answer = await ask(bureau, query);
    known[bureau[0]] = answer;
    if ("@{way}" === "chain") query = `after=${answer.ref}`;
  }
  return known;
}

function stops(depth) {
  const tissues = new Float64Array(16).fill(0.79);
  const plan = [];
  for (let minute = 0; minute < @{stops}; minute++) {
    const pressure = 1 + Math.max(0, depth - minute) / 10;
    let worst = 0;
    for (let i = 0; i < 16; i++) {
      tissues[i] += (pressure * 0.79 - tissues[i]) * (1 - Math.pow(2, -1 / (4 + i * 12)));
      worst = Math.max(worst, tissues[i] / (1.2 + i * 0.05));
    }
    if (worst > pressure) plan.push([minute, worst.toFixed(2)]);
  }
  return plan;
}

async function plan(line) {
  const n = Number(line.split(" ")[1]) || 0;
  const known = await @{fnCamel}(n % 211, n % 30);
  const risk = Object.values(known).reduce((sum, answer) => sum + answer.value, 0);
  return JSON.stringify({ site: n % 211, risk, stops: stops(18 + (n % 25)) });
}

net.createServer((socket) => {
  socket.setNoDelay(true);
  let rest = "";
  socket.on("error", () => {});
  socket.on("data", async (data) => {
    rest += data;
    const lines = rest.split("\n");
    rest = lines.pop();
    for (const line of lines) socket.write((await plan(line)) + "\n");
  });
}).listen(@{port}, "127.0.0.1");
