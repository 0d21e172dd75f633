// Posts reminders of appointments to the practices' systems: workers take them from the queue.
'use strict';
const crypto = require('crypto');
const fs = require('fs');
const http = require('http');
const net = require('net');
const { performance } = require('perf_hooks');

const totals = { units: 0, seconds: 0, culprit: 0 };
const agent = new http.Agent({ keepAlive: true, maxSockets: @{workers} });
const sleep = ms => new Promise(done => setTimeout(done, ms));

class Broker {
  constructor() {
    this.line = net.connect(@{queue}, '127.0.0.1');
    this.line.setNoDelay(true);
    this.line.setEncoding('utf8');
    this.rest = '';
    this.waiting = [];
    this.line.on('data', text => {
      const lines = (this.rest + text).split('\n');
      this.rest = lines.pop();
      for (const line of lines) this.waiting.shift()(line);
    });
  }

  ask(text) {
    return new Promise(told => {
      this.waiting.push(told);
      this.line.write(text + '\n');
    });
  }

  async take() {
    return JSON.parse(await this.ask('take'));
  }

  done(task) {
    return this.ask(`done ${task.id}`);
  }

  again(task) {
    return this.ask(`again ${task.id} ${Math.min(2000, @{first} * 2 ** Math.min(task.tries, 10))}`);
  }
}

function letter(task) {
  let mark = Buffer.from(String(task.patient));
  for (let i = 0; i < @{rounds} * 2; i++) mark = crypto.createHash('sha256').update(mark).digest();
  return JSON.stringify({ patient: task.patient, mark: mark.toString('hex').slice(0, 16), text: task.text });
}

function call(method, path, body = '') {
  return new Promise((done, failed) => {
    const request = http.request({
      host: '127.0.0.1', port: @{clinic}, method, path, agent,
      headers: { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) },
    }, answer => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', part => { text += part; });
      answer.on('end', () => done({ status: answer.statusCode, told: JSON.parse(text) }));
    });
    request.on('error', failed);
    request.end(body);
  });
}

async function @{fnCamel}(broker, task) {
  const path = `/@{topic}/${task.practice}/${task.id}`;
  let start = performance.now();
  const { status } = await call('POST', path, letter(task));
  if (status === 503) {
    await broker.again(task);
    totals.seconds += performance.now() - start;
    totals.culprit += performance.now() - start;
    return;
  }
  await broker.done(task);
  totals.seconds += performance.now() - start;
  while (@{receipts}) {
    await sleep(@{receipts});
    start = performance.now();
    const { told } = await call('GET', path);
    totals.seconds += performance.now() - start;
    if (told.state === 'read') break;
  }
  totals.units++;
}

async function work() {
  const broker = new Broker();
  for (;;) await @{fnCamel}(broker, await broker.take());
}

for (let i = 0; i < @{workers}; i++) work();
setTimeout(() => {
  fs.writeFileSync('@{report}', JSON.stringify({ units: totals.units, seconds: totals.seconds / 1000, culprit: totals.culprit / 1000 }));
  process.exit(0);
}, @{seconds} * 1000);
