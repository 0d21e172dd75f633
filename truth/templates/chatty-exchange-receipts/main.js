// Labels for parcels: a gang of parcels goes to the label printer of the hall, which signs what it has printed.
const crypto = require('crypto');
const fs = require('fs');
const net = require('net');

const STREETS = ['Lindenweg', 'Hauptstrasse', 'Am Markt', 'Hafenallee', 'Mill Lane'];

class Printer {
  constructor(port) {
    this.waiting = [];
    this.rest = '';
    this.line = net.connect({ port, host: '127.0.0.1', noDelay: true });
    this.line.setEncoding('latin1');
    this.line.on('data', (text) => this.arrived(text));
  }

  arrived(text) {
    const lines = (this.rest + text).split('\n');
    this.rest = lines.pop();
    for (const answer of lines) this.waiting.shift()(answer.split(' ')[1]);
  }

  command(text) {
    return new Promise((done) => {
      this.waiting.push(done);
      this.line.write(text + '\n');
    });
  }

  async @{fnCamel}(label) {
    if (@{whole}) {
      const words = label.fields.map(([name, value]) => `${name} ${value}`);
      return this.command(`RECEIPT ${label.number}|${words.join('|')}`);
    }
    await this.command(`OPEN ${label.number}`);
    for (const [name, value] of label.fields) {
      await this.command(`FONT ${name === 'street' ? 'bold' : 'plain'}`);
      await this.command(`PLACE ${label.fields.length * 12}`);
      await this.command(`TEXT ${name} ${value}`);
    }
    return this.command('CLOSE');
  }
}

// What is on a label: where it goes, what is in it, and by which ramps.
function labelOf(gang, parcel) {
  const draw = crypto.createHash('md5').update(`${gang}/${parcel}`).digest();
  const fields = [['street', `${STREETS[draw[0] % STREETS.length]} ${draw[1]}`], ['weight', `${draw[2] / 10} kg`]];
  for (let ramp = 2; ramp < @{lines}; ramp++) fields.push([`ramp${ramp}`, draw[ramp % 16] % 40]);
  return { number: `${gang}-${parcel}`, fields };
}

function checked(label) {
  let sum = label.number;
  for (let round = 0; round < @{rounds}; round++) {
    for (const [name, value] of label.fields) sum = crypto.createHash('sha1').update(`${sum}${name}${value}`).digest('hex');
  }
  return sum;
}

const seconds = () => Number(process.hrtime.bigint()) / 1e9;
const pause = (time) => new Promise((done) => setTimeout(done, time * 1000));

async function main() {
  const printer = new Printer(@{device});
  const printed = [];
  let units = 0, busy = 0, culprit = 0;
  const began = seconds();
  while (seconds() - began < @{seconds}) {
    const start = seconds();
    for (let parcel = 0; parcel < @{receipts}; parcel++) {
      const label = labelOf(units, parcel);
      const sum = checked(label);
      const asked = seconds();
      const signed = await printer.@{fnCamel}(label);
      culprit += seconds() - asked;
      printed.push(`${sum.slice(0, 8)} ${signed}`);
    }
    if (printed.length > 500) printed.splice(0, 250);
    units++;
    busy += seconds() - start;
    const rest = began + units / @{rate} - seconds();
    if (rest > 0) await pause(rest);
  }
  fs.writeFileSync('@{report}', JSON.stringify({ units, seconds: busy, culprit }));
  process.exit(0);
}

main();
