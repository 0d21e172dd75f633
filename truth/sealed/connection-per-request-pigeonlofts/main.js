// The clock of a pigeon race: takes the arrivals, asks the registry for the owner of each ring, and keeps the ranking by speed.
const fs = require('fs');
const net = require('net');
const { setTimeout: pause } = require('timers/promises');

const now = () => performance.now() / 1000;

class Registry {
  constructor() {
    this.line = null;
    this.asked = 0;
  }

  async open() {
    this.text = '';
    this.line = net.connect({ port: @{registry}, host: '127.0.0.1', noDelay: true });
    this.line.setEncoding('ascii');
    this.line.on('data', (data) => {
      this.text += data;
      const end = this.text.indexOf('\n');
      if (end < 0) return;
      const said = this.text.slice(0, end);
      this.text = this.text.slice(end + 1);
      this.take(said);
    });
    this.line.on('error', (error) => this.fail(error));
    await this.said();
    const answer = await this.say('login clock homing');
    if (answer !== 'ok') throw new Error(`the registry says ${answer}`);
  }

  said() {
    return new Promise((take, fail) => Object.assign(this, { take, fail }));
  }

  say(text) {
    const said = this.said();
    this.line.write(`${text}\n`);
    return said;
  }

  async @{fnCamel}(ring) {
    if (!this.line) await this.open();
    const words = (await this.say(`ring ${ring}`)).split(' ');
    this.asked++;
    if (@{calls} && this.asked % @{calls} === 0) this.close();
    return { loft: Number(words[1]), year: Number(words[3]) };
  }

  close() {
    if (this.line) this.line.end();
    this.line = null;
  }
}

// How far a loft is from where the pigeons were let go, and thus how fast one flew.
function speed(ring, loft) {
  const metres = 180000 + ((loft * 7919) % 60000);
  const minutes = 130 + ((ring * 104729) % 9000) / 100;
  return metres / minutes;
}

function rank(ranking, one) {
  let low = 0;
  let high = ranking.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ranking[middle].speed < one.speed) high = middle;
    else low = middle + 1;
  }
  ranking.splice(low, 0, one);
  if (ranking.length > 1000) ranking.pop();
}

async function main() {
  const registry = new Registry();
  const ranking = [];
  let units = 0;
  let busy = 0;
  let culprit = 0;
  const began = now();
  while (now() - began < @{seconds}) {
    const start = now();
    const ring = 100000 + ((units * 37) % 50000);
    const asked = now();
    const { loft, year } = await registry.@{fnCamel}(ring);
    culprit += now() - asked;
    if (year >= 2017) rank(ranking, { ring, loft, speed: speed(ring, loft) });
    units++;
    busy += now() - start;
    const rest = began + units / @{rate} - now();
    if (rest > 0) await pause(rest * 1000);
  }
  registry.close();
  console.error(`${ranking.length} ranked, first is ${JSON.stringify(ranking[0])}`);
  fs.writeFileSync('@{report}', JSON.stringify({ units, seconds: busy, culprit }));
}

main();
