// The desk of the tombola: draws a hamper for each winning ticket, prints its label, and tells the sponsor.
'use strict';
const fs = require('fs');
const net = require('net');

const GOODS = ['honey', 'plum jam', 'cheese', 'rye bread', 'candles', 'tea', 'soap', 'cider', 'walnuts', 'biscuits', 'mustard'];
const now = () => Number(process.hrtime.bigint()) / 1e9;

class Sponsor {
  constructor(socket) {
    this.socket = socket;
    this.waiting = [];
    this.rest = '';
    socket.setEncoding('utf8');
    socket.setNoDelay(true);
    socket.on('data', (text) => {
      const lines = (this.rest + text).split('\n');
      this.rest = lines.pop();
      for (const line of lines) this.waiting.shift()(line);
    });
  }

  static open(port) {
    return new Promise((resolve, reject) => {
      const socket = net.connect(port, '127.0.0.1', () => resolve(new Sponsor(socket)));
      socket.on('error', reject);
    });
  }

  tell(lines) {
    const words = lines.map(() => new Promise((resolve) => this.waiting.push(resolve)));
    this.socket.write(lines.join('\n') + '\n');
    return Promise.all(words);
  }
}

async function @{fnCamel}(sponsor, lines) {
  if (@{together}) return (await sponsor.tell(lines)).pop();
  let word = '';
  for (const line of lines) {
    [word] = await sponsor.tell([line]);
    if (!word.startsWith('200')) throw new Error(`${line}: ${word}`);
  }
  return word;
}

function draw(ticket, winners) {
  const goods = [];
  for (let i = 0; i < @{goods}; i++) goods.push(`${GOODS[(ticket * 7 + i * 3) % GOODS.length]} ${1 + ((ticket + i) % 4)}`);
  return { number: ticket, winner: winners[(ticket * 131) % winners.length], goods };
}

function label(hamper) {
  const width = Math.max(...hamper.goods.map((one) => one.length)) + 4;
  const rows = [...hamper.goods].sort().map((one) => `* ${one.padEnd(width)}*`);
  return [`* ${hamper.winner.padEnd(width)}*`, ...rows].join('\n');
}

function told(hamper) {
  return [`HAMPER ${hamper.number}`, `WINNER ${hamper.winner}`, 'SHELF ' + (hamper.number % 12),
    ...hamper.goods.map((one) => `GOODS ${one}`), `WEIGHT ${hamper.goods.length * 420}`, 'CLOSE'];
}

async function main() {
  const winners = Array.from({ length: @{names} }, (_, i) => `Visitor ${(i * 7919) % 10007}`);
  const sponsor = await Sponsor.open(@{port});
  let units = 0;
  let busy = 0;
  let culprit = 0;
  let letters = 0;
  const began = now();
  while (now() - began < @{seconds}) {
    const start = now();
    const hamper = draw(units, winners);
    letters += label(hamper).length;
    const asked = now();
    await @{fnCamel}(sponsor, told(hamper));
    culprit += now() - asked;
    units++;
    busy += now() - start;
    const rest = began + units / @{rate} - now();
    if (rest > 0) await new Promise((resolve) => setTimeout(resolve, rest * 1000));
  }
  sponsor.socket.destroy();
  fs.writeFileSync('@{report}', JSON.stringify({ units, letters, seconds: busy, culprit }));
}

main();
