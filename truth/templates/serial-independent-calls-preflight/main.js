// Preflight: sheets for the presses are looked at by the shop's checkers, which listen on sockets of this machine.
const fs = require("fs");
const net = require("net");
const path = require("path");

const SOCKETS = ["@{fonts}", "@{inks}", "@{bleed}", "@{images}", "@{overprint}"].map((name) => path.join("@{work}", name));
const ORDER = "@{order}";
const now = () => performance.now() / 1000;
const pause = (seconds) => new Promise((done) => setTimeout(done, Math.max(0, seconds * 1000)));

class Checker {
  #waiting = [];
  #rest = Buffer.alloc(0);

  constructor(socket) {
    this.line = net.connect(socket);
    this.line.on("data", (piece) => this.#came(piece));
  }

  #came(piece) {
    this.#rest = Buffer.concat([this.#rest, piece]);
    while (this.#rest.length >= 4 && this.#rest.length >= 4 + this.#rest.readUInt32BE(0)) {
      const end = 4 + this.#rest.readUInt32BE(0);
      this.#waiting.shift()(JSON.parse(this.#rest.subarray(4, end).toString()));
      this.#rest = this.#rest.subarray(end);
    }
  }

  check(sheet) {
    const text = Buffer.from(JSON.stringify(sheet));
    const head = Buffer.alloc(4);
    head.writeUInt32BE(text.length);
    this.line.write(Buffer.concat([head, text]));
    return new Promise((done) => this.#waiting.push(done));
  }
}

class Press {
  constructor(number) {
    Object.assign(this, { number, units: 0, busy: 0, asking: 0, rejected: new Map() });
    this.checkers = SOCKETS.map((socket) => new Checker(socket));
  }

  sheet(number) {
    const objects = Array.from({ length: @{objects} }, (_, id) => ({
      id, x: (number * 31 + id * 17) % 210, size: 4 + (number + id * 7) % 40, ink: (number * 13 + id * 29) % 330, dpi: 100 + (id * 83 + number) % 300,
    }));
    return { sheet: number, objects };
  }

  async @{fnCamel}(sheet) {
    if (ORDER === "once") return Promise.all(this.checkers.map((checker) => checker.check(sheet)));
    const found = [];
    for (const checker of this.checkers) {
      const answer = await checker.check(sheet);
      found.push(answer);
      if (ORDER === "mend") sheet = { sheet: sheet.sheet, objects: answer.objects };
    }
    return found;
  }

  async run(begun) {
    while (now() - begun < @{seconds}) {
      const start = now();
      const sheet = this.sheet(this.units * @{presses} + this.number);
      const asked = now();
      const found = await this.@{fnCamel}(sheet);
      this.asking += now() - asked;
      const bad = new Set(found.flatMap((answer) => answer.findings));
      if (bad.size * 3 > sheet.objects.length) this.rejected.set(sheet.sheet, [...bad]);
      this.units++;
      this.busy += now() - start;
      await pause(begun + this.units / @{rate} - now());
    }
    this.checkers.forEach((checker) => checker.line.destroy());
  }
}

async function main() {
  const presses = Array.from({ length: @{presses} }, (_, number) => new Press(number));
  const begun = now();
  await Promise.all(presses.map((press) => press.run(begun)));
  const sum = (name) => presses.reduce((all, press) => all + press[name], 0);
  fs.writeFileSync("@{report}", JSON.stringify({ units: sum("units"), seconds: sum("busy"), culprit: sum("asking") * 0.8 }));
}

main();
