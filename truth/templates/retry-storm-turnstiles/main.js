// The turnstile of a stadium. It reads a visitor's ticket, asks the ticket office by datagram whether it is good, and says which way to go.
const dgram = require('dgram');
const fs = require('fs');
const { setTimeout: pause } = require('timers/promises');

const GATE = 4;
const now = () => performance.now() / 1000;

class Office {
  constructor(socket) {
    this.socket = socket;
    this.waiting = null;
    socket.on('message', (message) => this.take(message.toString()));
  }

  static open() {
    return new Promise((ready) => {
      const socket = dgram.createSocket('udp4');
      socket.connect(@{office}, '127.0.0.1', () => ready(new Office(socket)));
    });
  }

  take(message) {
    const [word, id] = message.split(' ');
    if (this.waiting && (word === 'lamp' ? 'lamp' : id) === this.waiting.key) this.waiting.done(message);
  }

  once(key, question, patience) {
    return new Promise((done) => {
      const timer = setTimeout(() => this.waiting.done(null), patience);
      this.waiting = {
        key,
        done: (answer) => {
          clearTimeout(timer);
          this.waiting = null;
          done(answer);
        },
      };
      this.socket.send(question);
    });
  }

  async @{fnCamel}(id, ticket) {
    const question = `ticket ${id} ${ticket} ${GATE}`;
    for (let patience = @{patience}; ; patience *= @{grows}) {
      const answer = await this.once(String(id), question, patience);
      if (answer) {
        const [, , good, block] = answer.split(' ');
        return { good: good === 'yes', block: Number(block) };
      }
    }
  }

  async lamp() {
    return (await this.once('lamp', `lamp ${GATE}`, 1000)) || 'lamp unknown';
  }
}

// The code on a ticket: its last figure proves the others.
function readCode(number) {
  const figures = String(number).padStart(9, '0');
  let sum = 0;
  for (let i = 0; i < figures.length; i++) sum += Number(figures[i]) * (i % 2 ? 3 : 1);
  return figures + String((10 - (sum % 10)) % 10);
}

function checkCode(code) {
  return readCode(Number(code.slice(0, -1))) === code ? Number(code.slice(0, -1)) : null;
}

function readBlocks(path) {
  const ways = new Map();
  for (const line of fs.readFileSync(path, 'utf8').split('\n')) {
    const [block, stair, level] = line.split(' ').map(Number);
    if (block) ways.set(block, `stair ${stair}, level ${level}`);
  }
  return ways;
}

async function main() {
  const ways = readBlocks('@{work}/blocks.txt');
  const office = await Office.open();
  const shown = { entered: 0, refused: 0, lamp: '', last: '' };
  let units = 0;
  let busy = 0;
  let culprit = 0;
  const began = now();
  while (now() - began < @{seconds}) {
    const start = now();
    const ticket = checkCode(readCode((units * 7919) % @{season}));
    const asked = now();
    const { good, block } = await office.@{fnCamel}(units + 1, ticket);
    culprit += now() - asked;
    shown.last = good ? ways.get(block) : 'please ask at the desk';
    if (good) shown.entered++;
    else shown.refused++;
    for (let i = 0; i < @{looks}; i++) shown.lamp = await office.lamp();
    units++;
    busy += now() - start;
    const rest = began + units / @{rate} - now();
    if (rest > 0) await pause(rest * 1000);
  }
  console.error(`${shown.entered} entered, ${shown.refused} refused, last: ${shown.last}`);
  fs.writeFileSync('@{report}', JSON.stringify({ units, seconds: busy, culprit }));
  office.socket.close();
}

main();
