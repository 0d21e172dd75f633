'use strict';
// Tells what a crossing costs: fare NUMBER, where the number is that of the booking.
const fs = require('fs');
const net = require('net');
const path = require('path');

class Settings {
  constructor(file) {
    this.file = file;
    this.readAt = -Infinity;
    this.values = new Map();
  }

  get(key) {
    const now = performance.now() / 1000;
    if (now - this.readAt >= @{valid_s}) {
      const values = new Map();
      this.@{fnCamel}(this.file, values);
      this.values = values;
      this.readAt = now;
    }
    return this.values.get(key);
  }

  @{fnCamel}(file, values) {
    for (const line of fs.readFileSync(file, 'utf8').split('\n')) {
      if (line === '' || line[0] === '#') continue;
      if (line.startsWith('include ')) {
        this.@{fnCamel}(path.join(path.dirname(file), line.slice(8)), values);
      } else {
        const at = line.indexOf(' = ');
        values.set(line.slice(0, at), line.slice(at + 3));
      }
    }
  }

  number(key) {
    const value = Number(this.get(key));
    if (Number.isNaN(value)) throw new Error(`${key} is not set`);
    return value;
  }
}

class Fares {
  constructor(settings) {
    this.settings = settings;
  }

  passenger(kind, here, there) {
    const cents = this.settings.number(`zone.${here}`) + (here === there ? 0 : this.settings.number(`zone.${there}`));
    if (kind === 1) return Math.floor(cents * this.settings.number('child') / 100);
    return kind === 2 ? cents + this.settings.number('bicycle') : cents;
  }

  answer(number) {
    const here = this.settings.number(`pier.${number % @{landings} + 1}`);
    const there = this.settings.number(`pier.${number * 13 % @{landings} + 1}`);
    let sum = 0;
    for (let i = 0; i < @{party}; i++) sum += this.passenger((number + i) % 3, here, there);
    const step = this.settings.number('rounding');
    return `booking ${number}: ${(Math.ceil(sum / step) * step / 100).toFixed(2)}`;
  }
}

const fares = new Fares(new Settings('@{work}/@{etc}/@{settings}'));
net.createServer({ noDelay: true }, line => {
  let text = '';
  line.setEncoding('ascii');
  line.on('data', part => {
    const asked = (text + part).split('\n');
    text = asked.pop();
    for (const each of asked) line.write(`${fares.answer(Number(each.split(' ')[1]))}\n`);
  });
  line.on('error', () => line.destroy());
}).listen(@{port}, '127.0.0.1');
