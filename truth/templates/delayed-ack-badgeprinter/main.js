// Draws labels of badges, and has them printed.
"use strict";
const fs = require("fs");
const net = require("net");

function draw(number) {
  const picture = Buffer.alloc(@{picture});
  for (let i = 0; i < picture.length; i++) picture[i] = (Math.imul(number + 1, 2654435761) >>> i % 31) ^ i;
  return picture;
}

class Printer {
  constructor() {
    this.waited = 0;
    this.done = undefined;
    this.connection = net.connect({ port: @{printer}, host: "127.0.0.1", noDelay: @{nodelay} });
    this.connection.on("data", (answer) => this.done(answer.readUInt32BE(0)));
  }

  async @{fnCamel}(number, picture) {
    const start = performance.now();
    const answer = new Promise((done) => (this.done = done));
    const head = Buffer.alloc(12);
    head.writeUInt32BE(picture.length, 0);
    head.writeUInt32BE(@{copies}, 4);
    head.writeUInt32BE(number, 8);
    if (@{writes} === 1) {
      this.connection.write(Buffer.concat([head, picture]));
    } else {
      this.connection.write(head);
      this.connection.write(picture);
    }
    const printed = await answer;
    this.waited += performance.now() - start;
    return printed;
  }
}

async function main() {
  const printer = new Printer();
  await new Promise((connected) => printer.connection.once("connect", connected));
  const begin = performance.now();
  let units = 0;
  let busy = 0;
  while (performance.now() - begin < 1000 * @{seconds}) {
    const start = performance.now();
    await printer.@{fnCamel}(units, draw(units));
    units++;
    busy += performance.now() - start;
    await new Promise((due) => setTimeout(due, Math.max(0, begin + (1000 * units) / @{rate} - performance.now())));
  }
  printer.connection.end();
  fs.writeFileSync("@{report}", JSON.stringify({ units, seconds: busy / 1000, culprit: printer.waited / 1000 }));
}

main();
