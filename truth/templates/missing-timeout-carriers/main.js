// The shipping desk of a shop: packs the items of an order into boxes, and asks the carriers what these cost.
const fs = require('fs');
const net = require('net');
const { performance } = require('perf_hooks');

const CARRIERS = [{ name: 'swift', port: @{first} }, { name: 'meridian', port: @{second} }, { name: 'harbour', port: @{third} }];
const BOXES = [{ litres: 4, grams: 90 }, { litres: 12, grams: 180 }, { litres: 40, grams: 420 }];
const LIMIT_MS = @{limit} * 1000;

const clock = () => performance.now() / 1000;
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

/** A line to a carrier; questions on it are answered one after another. */
class Line {
  constructor(carrier) {
    this.carrier = carrier;
    this.since = 0;
    this.lost = 0;
  }

  async open() {
    this.socket = net.connect(this.carrier.port, '127.0.0.1');
    this.socket.setNoDelay(true);
    this.rest = '';
    await new Promise((done, failed) => this.socket.once('connect', done).once('error', failed));
    this.socket.on('error', () => this.close());
    this.socket.on('data', (piece) => {
      this.rest += piece;
      const end = this.rest.indexOf('\n');
      if (end < 0 || !this.heard) return;
      const line = this.rest.slice(0, end);
      this.rest = this.rest.slice(end + 1);
      this.heard(line);
    });
  }

  close() {
    if (this.socket) this.socket.destroy();
    this.socket = null;
  }

  async @{fnCamel}(shipment) {
    if (!this.socket) await this.open();
    this.since = clock();
    let timer;
    const line = await new Promise((done) => {
      this.heard = done;
      if (LIMIT_MS) timer = setTimeout(() => done(null), LIMIT_MS);
      this.socket.write(`QUOTE ${shipment.number} ${shipment.grams} ${shipment.zone}\n`);
    });
    clearTimeout(timer);
    if (line === null) {
      this.lost += clock() - this.since;
      this.close();
    }
    this.since = 0;
    if (line === null) return null;
    const [, cents, days] = line.split(' ').map(Number);
    return { carrier: this.carrier.name, cents, days };
  }
}

function itemsOf(number) {
  const items = [];
  for (let i = 0; i < @{items}; i++) {
    const draw = (number * 2654435761 + i * 40503) >>> 0;
    items.push({ article: draw % 9000, litres: 0.1 + (draw % 37) / 10, grams: 40 + (draw % 1900) });
  }
  return items;
}

// The order of items in which they fit into the fewest boxes, of some that are tried.
function pack(number) {
  let best = null;
  for (let attempt = 0; attempt < 60; attempt++) {
    const items = itemsOf(number).sort((a, b) => ((a.article * (attempt + 3)) % 101) - ((b.article * (attempt + 3)) % 101));
    const boxes = [];
    for (const item of items) {
      let box = boxes.find((one) => one.free >= item.litres);
      if (!box) boxes.push((box = { free: BOXES[2].litres, grams: BOXES[2].grams }));
      box.free -= item.litres;
      box.grams += item.grams;
    }
    if (!best || boxes.length < best.length) best = boxes;
  }
  return best;
}

const waiting = [];
const calls = [];
const packers = [];
let units = 0;
let busy = 0;

async function packer(mine) {
  const lines = CARRIERS.map((carrier) => new Line(carrier));
  mine.lines = lines;
  for (;;) {
    while (!waiting.length) await new Promise((done) => calls.push(done));
    const number = waiting.shift();
    mine.start = clock();
    const boxes = pack(number);
    const shipment = { number, grams: boxes.reduce((sum, box) => sum + box.grams, 0), zone: 1 + (number % 5) };
    const offers = (await Promise.all(lines.map((line) => line.@{fnCamel}(shipment)))).filter(Boolean);
    offers.sort((a, b) => a.cents - b.cents);
    journal.push(`${number}: ${boxes.length} boxes by ${offers[0].carrier} for ${offers[0].cents}`);
    if (journal.length > 500) journal.shift();
    busy += clock() - mine.start;
    mine.start = 0;
    units++;
  }
}

const journal = [];

function listen() {
  const socket = net.connect(CARRIERS[2].port, '127.0.0.1', () => socket.write('NEWS\n'));
  socket.on('data', (text) => journal.push(`news: ${String(text).trim()}`));
}

async function main() {
  if (@{news}) listen();
  for (let i = 0; i < @{packers}; i++) {
    packers.push({ start: 0, lines: [] });
    packer(packers[i]);
  }
  const began = clock();
  for (let number = 1; clock() - began < @{seconds}; number++) {
    waiting.push(number);
    if (calls.length) calls.shift()();
    await sleep(Math.max(0, (began + number / @{rate} - clock()) * 1000));
  }
  let culprit = 0;
  for (const mine of packers) {
    if (mine.start) busy += clock() - mine.start;
    for (const line of mine.lines) culprit += line.lost + (line.since ? clock() - line.since : 0);
  }
  fs.writeFileSync('@{report}', JSON.stringify({ units, seconds: busy, culprit }));
  process.exit(0);
}

main();
