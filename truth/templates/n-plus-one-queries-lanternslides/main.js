// The catalogue of the museum's magic lantern slides: "box 7" is answered with one line that lists the slides of the box.
const net = require('net');
const readline = require('readline');

// A client of redis: answers come in the order of the questions.
class Store {
  constructor(port) {
    this.waiting = [];
    this.rest = Buffer.alloc(0);
    this.socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
    this.socket.on('data', (data) => this.take(data));
  }

  ask(...words) {
    const text = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
    return new Promise((done, failed) => {
      this.waiting.push({ done, failed });
      this.socket.write(`*${words.length}\r\n${text.join('')}`);
    });
  }

  // One answer from a place on: [value, where it ends], or null if it is not complete yet.
  parse(at) {
    const end = this.rest.indexOf('\r\n', at);
    if (end < 0) return null;
    const head = this.rest.toString('utf8', at + 1, end);
    const kind = String.fromCharCode(this.rest[at]);
    if (kind === '-') return [new Error(head), end + 2];
    if (kind === '$') {
      const from = end + 2;
      const to = from + Number(head);
      return Number(head) < 0 ? [null, from] : this.rest.length < to + 2 ? null : [this.rest.toString('utf8', from, to), to + 2];
    }
    if (kind !== '*') return [head, end + 2];
    const all = [];
    let next = end + 2;
    for (let i = 0; i < Number(head); i++) {
      const one = this.parse(next);
      if (!one) return null;
      all.push(one[0]);
      next = one[1];
    }
    return [all, next];
  }

  take(data) {
    this.rest = this.rest.length ? Buffer.concat([this.rest, data]) : data;
    for (let one; this.rest.length && (one = this.parse(0)); ) {
      this.rest = this.rest.subarray(one[1]);
      const { done, failed } = this.waiting.shift();
      if (one[0] instanceof Error) failed(one[0]);
      else done(one[0]);
    }
  }
}

const store = new Store(@{store});

async function fill() {
  for (let box = 0; box < @{boxes}; box++) {
    const slides = Array.from({ length: @{many} }, (_, i) => `@{key}:${box * 1000 + i}`);
    const captions = slides.flatMap((slide, i) => [slide, `No. ${i}, a view of the harbour of town ${box * i} by moonlight, hand-coloured`]);
    await store.ask('DEL', `box:${box}`);
    await store.ask('RPUSH', `box:${box}`, ...slides);
    await store.ask('MSET', ...captions);
  }
}

async function @{fnCamel}(slides) {
  if ('@{way}' === 'several') return store.ask('MGET', ...slides);
  const captions = [];
  for (const slide of slides) {
    captions.push(await store.ask('GET', slide));
  }
  return captions;
}

async function page(box) {
  const slides = await store.ask('LRANGE', `box:${box % @{boxes}}`, '0', String(@{shown} - 1));
  const captions = await @{fnCamel}(slides);
  return captions.map((caption, i) => `${String(i + 1).padStart(3)} ${caption[0].toUpperCase()}${caption.slice(1)}`).join('; ');
}

fill().then(() => {
  const door = net.createServer({ noDelay: true }, async (visitor) => {
    visitor.on('error', () => {});
    for await (const line of readline.createInterface({ input: visitor })) {
      visitor.write(`${await page(Number(line.split(' ')[1]) || 0)}\n`);
    }
  });
  door.listen(@{port}, '127.0.0.1');
});
