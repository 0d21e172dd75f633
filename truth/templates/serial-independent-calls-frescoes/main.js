// Prepares the loans of a museum: for each fresco, the papers with the terms of all who have a say.
const net = require("net");
const fs = require("fs");
const crypto = require("crypto");
const readline = require("readline");

const clock = () => Number(process.hrtime.bigint()) / 1e9;

class Office {
  constructor(name, port) {
    this.name = name;
    this.waiting = [];
    this.socket = net.connect(port, "127.0.0.1").setNoDelay(true);
    readline.createInterface({ input: this.socket }).on("line", (line) => this.waiting.shift()(line.slice(6)));
  }

  terms(ask) {
    return new Promise((done) => {
      this.waiting.push(done);
      this.socket.write(`${this.name} ${ask}\n`);
    });
  }
}

class Registrar {
  constructor(offices) {
    this.offices = offices;
    this.spent = 0;
  }

  async @{fnCamel}(fresco) {
    const said = [];
    if ("@{how}" === "once") return Promise.all(this.offices.map((office) => office.terms(fresco)));
    if ("@{how}" === "chain") {
      let last = fresco;
      for (const office of this.offices) said.push((last = await office.terms(last)));
      return said;
    }
    const start = clock();
    for (const office of this.offices) {
      said.push(await office.terms(fresco));
    }
    this.spent += clock() - start;
    return said;
  }

  // The condition report: what the photograph shows, piece by piece.
  report(fresco, said) {
    let mark = fresco + said.join("/");
    for (const end = clock() + @{work_ms} / 1000; clock() < end; ) mark = crypto.createHash("sha1").update(mark).digest("hex");
    return { fresco, said, mark };
  }
}

async function main() {
  const ports = { insurer: @{p1}, customs: @{p2}, carrier: @{p3}, restorer: @{p4}, lender: @{p5} };
  const registrar = new Registrar(Object.entries(ports).map(([name, port]) => new Office(name, port)));
  const papers = [], began = clock();
  let units = 0, busy = 0, due = began;
  while (clock() - began < @{seconds}) {
    const start = clock();
    const fresco = `fresco-${units}`;
    papers[units % 50] = registrar.report(fresco, await registrar.@{fnCamel}(fresco));
    busy += clock() - start;
    units++;
    due = Math.max(due + 1 / @{rate}, clock());
    await new Promise((done) => setTimeout(done, (due - clock()) * 1000));
  }
  registrar.offices.forEach((office) => office.socket.destroy());
  fs.writeFileSync("@{report}", JSON.stringify({ units, seconds: busy, culprit: registrar.spent }));
}

main();
