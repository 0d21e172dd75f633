// Surveys lighthouses: every round the state of each, and a line in the log of the day.
const fs = require("fs");
const net = require("net");

class Station {
  constructor(name, port) {
    this.name = name;
    this.port = port;
    this.waiting = [];
    this.rest = "";
  }

  open() {
    return new Promise((resolve, reject) => {
      this.socket = net.connect(this.port, "127.0.0.1", resolve);
      this.socket.setNoDelay(true);
      this.socket.on("error", reject);
      this.socket.on("data", (data) => this.take(data.toString()));
    });
  }

  take(text) {
    const lines = (this.rest + text).split("\n");
    this.rest = lines.pop();
    for (const line of lines) {
      const next = this.waiting.shift();
      if (next) next(line);
    }
  }

  @{fnCamel}(question) {
    return new Promise((resolve, reject) => {
      this.waiting.push(resolve);
      this.socket.write(question + "\n");
      if (@{patience} > 0) {
        setTimeout(() => reject(new Error(`${this.name} does not answer`)), @{patience}).unref();
      }
    });
  }
}

const now = () => performance.now() / 1000;
const day = { units: 0, busy: 0, waited: 0, working: null, asked: null, volts: new Map() };

async function visit(station) {
  const isLone = station.port === @{lost};
  if (isLone) day.asked = now();
  try {
    const [, volt, , , lamp] = (await station.@{fnCamel}(`state ${station.name} ${day.units}`)).split(" ");
    day.volts.set(station.name, { volt: Number(volt), isLit: lamp === "1" });
  } catch (error) {
    // The harbour sends a boat.
    console.log(error.message);
    station.isGivenUp = true;
  } finally {
    if (isLone) {
      day.waited += now() - day.asked;
      day.asked = null;
    }
  }
}

async function rounds(stations) {
  const began = now();
  for (;;) {
    day.working = now();
    for (const station of stations) {
      if (!station.isGivenUp) await visit(station);
    }
    day.busy += now() - day.working;
    day.working = null;
    day.units++;
    const rest = began + day.units / @{rate} - now();
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, rest * 1000)));
  }
}

function finish() {
  if (day.working !== null) {
    day.busy += now() - day.working;
    day.units++;
  }
  if (day.asked !== null) day.waited += now() - day.asked;
  fs.writeFileSync("@{report}", JSON.stringify({ units: day.units, seconds: day.busy, culprit: day.waited }));
  process.exit(0);
}

async function main() {
  const stations = [new Station("rock", @{lost})];
  for (let number = 1; number < @{lights}; number++) stations.push(new Station(`cape-${number}`, @{port}));
  const calls = new Station("calls", @{port});
  for (const station of [...stations, calls]) await station.open();
  calls.waiting.push((text) => console.log("a call:", text));
  calls.socket.write("calls\n");
  setTimeout(finish, @{seconds} * 1000);
  await rounds(stations);
}

main();
