// Watches the incubators of a ward: reads each bed in turn, smooths the values, and keeps the alarms.
'use strict';
const fs = require('fs');
const net = require('net');
const readline = require('readline');

const now = () => performance.now() / 1000;
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

class Terminal {
  async open() {
    this.socket = net.connect({ port: @{port}, host: '127.0.0.1', noDelay: true });
    this.socket.on('error', (problem) => this.fail && this.fail(problem));
    if (@{limit} > 0) {
      this.socket.setTimeout(@{limit}, () => this.fail && this.socket.destroy(new Error('no answer')));
    }
    let rest = '';
    this.socket.setEncoding('latin1').on('data', (part) => {
      rest += part;
      if (!rest.endsWith('\n')) return;
      if (this.done) this.done(rest.trimEnd());
      rest = '';
    });
    await new Promise((ready, fail) => { this.fail = fail; this.socket.once('connect', ready); });
    this.fail = null;
    return this;
  }

  async @{fn}(bed) {
    const answer = new Promise((done, fail) => { this.done = done; this.fail = fail; });
    this.socket.write(`read ${bed}\n`);
    try {
      return await answer;
    } finally {
      this.done = this.fail = null;
    }
  }
}

class Bed {
  constructor() {
    this.history = [];
    this.alarms = 0;
  }

  take(text) {
    const [, temp, hum, oxygen] = /temp ([\d.]+) hum ([\d.]+) spo2 (\d+)/.exec(text).map(Number);
    this.history.push(temp);
    if (this.history.length > 60) this.history.shift();
    const mean = this.history.reduce((a, b) => a + b, 0) / this.history.length;
    this.spread = Math.sqrt(this.history.reduce((a, b) => a + (b - mean) ** 2, 0) / this.history.length);
    if (temp > 37.4 || oxygen < 92 || hum < 40) this.alarms++;
  }
}

let units = 0, busy = 0, reading = 0, asked = 0;

async function watch() {
  const beds = Array.from({ length: @{beds} }, () => new Bed());
  let terminal = await new Terminal().open();
  for (let n = 0; ; n++) {
    const start = asked = now();
    let text = null;
    while (text === null) {
      try {
        text = await terminal.@{fn}(n % beds.length);
      } catch (problem) {
        terminal = await new Terminal().open();
      }
    }
    reading += now() - start;
    asked = 0;
    beds[n % beds.length].take(text);
    units++;
    busy += now() - start;
    await pause(1000 / @{rate});
  }
}

if (@{bell}) {
  const bell = net.connect(@{port}, '127.0.0.1', () => bell.write('bell on\n'));
  readline.createInterface({ input: bell }).on('line', (text) => console.log('nurse', text));
}
watch();
setTimeout(() => {
  if (asked) {
    units++;
    busy += now() - asked;
    reading += now() - asked;
  }
  fs.writeFileSync('@{report}', JSON.stringify({ units, seconds: busy, culprit: reading }));
  process.exit(0);
}, @{seconds} * 1000);
