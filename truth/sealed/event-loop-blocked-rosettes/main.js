// The ring office of the dog show. "call N": an entry is called in. "points N": the standing of a class.
'use strict';
const net = require('net');
const { Worker, isMainThread, parentPort } = require('worker_threads');

const DOGS = @{dogs};
const now = () => Number(process.hrtime.bigint()) / 1e6;

// One way in which the judges' marks may fall, as points of each dog.
function round(points, state) {
  const marks = [];
  for (let dog = 0; dog < DOGS; dog++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    marks.push({ dog, mark: 40 + dog / 7 + (state >>> 20) / 300 });
  }
  marks.sort((one, other) => other.mark - one.mark);
  for (let place = 0; place < 5; place++) points[marks[place].dog] += 5 - place;
  return state;
}

function @{fnCamel}(number, rounds) {
  const points = new Array(DOGS).fill(0);
  let state = number + 17;
  for (let i = 0; i < rounds; i++) state = round(points, state);
  const best = points.indexOf(Math.max(...points));
  return `${best} ${(points[best] / rounds).toFixed(3)}`;
}

function roundsIn(milliseconds) {
  @{fnCamel}(1, 3000);
  const start = now();
  @{fnCamel}(2, 3000);
  return Math.max(1, Math.round((3000 * milliseconds) / (now() - start)));
}

class Bench {
  constructor() {
    this.worker = new Worker(__filename);
    this.waiting = [];
    this.worker.on('message', (text) => this.waiting.shift()(text));
  }

  points(number, rounds) {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      this.worker.postMessage([number, rounds]);
    });
  }
}

function office() {
  const rounds = roundsIn(@{work});
  const bench = '@{place}' === 'beside' ? new Bench() : null;
  const entries = new Map();
  for (let n = 0; n < @{entries}; n++) entries.set(n, { ring: n % 9, called: 0 });

  const answer = async (line) => {
    const [verb, text] = line.split(' ');
    const number = Number(text);
    if (verb === 'points') return bench ? bench.points(number, rounds) : @{fnCamel}(number, rounds);
    const entry = entries.get(number);
    if (!entry) return 'unknown';
    entry.called++;
    return `ring ${entry.ring} call ${entry.called}`;
  };

  net.createServer((client) => {
    let rest = '';
    client.setEncoding('utf8');
    client.setNoDelay(true);
    client.on('error', () => client.destroy());
    client.on('data', async (text) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop();
      for (const line of lines) client.write(`${await answer(line)}\n`);
    });
  }).listen(@{port}, '127.0.0.1');
}

if (isMainThread) office();
else parentPort.on('message', ([number, rounds]) => parentPort.postMessage(@{fnCamel}(number, rounds)));
