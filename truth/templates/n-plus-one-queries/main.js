'use strict';
const http = require('http');
const net = require('net');
const crypto = require('crypto');

// A small client of the store: answers come in the order of the calls.
class Store {
  constructor(port) {
    this.waiting = [];
    this.rest = Buffer.alloc(0);
    this.line = net.connect({ port, host: '127.0.0.1', noDelay: true });
    this.line.on('data', (part) => {
      this.rest = this.rest.length ? Buffer.concat([this.rest, part]) : part;
      for (let one; this.waiting.length && (one = this.parse(0)); this.rest = this.rest.subarray(one.end)) this.waiting.shift()(one.value);
    });
  }

  parse(at) {
    const stop = this.rest.indexOf('\r\n', at);
    if (stop < 0) return null;
    const head = this.rest.toString('latin1', at + 1, stop);
    const kind = this.rest[at];
    if (kind === 0x24) {
      const length = Number(head);
      if (length < 0) return { value: null, end: stop + 2 };
      const end = stop + 2 + length + 2;
      return this.rest.length < end ? null : { value: this.rest.toString('utf8', stop + 2, end - 2), end };
    }
    if (kind !== 0x2a) return { value: head, end: stop + 2 };
    const value = [];
    let end = stop + 2;
    for (let i = 0; i < Number(head); i++) {
      const one = this.parse(end);
      if (!one) return null;
      value.push(one.value);
      end = one.end;
    }
    return { value, end };
  }

  call(...words) {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      this.line.write(`*${words.length}\r\n` + words.map((w) => `$${w.length}\r\n${w}\r\n`).join(''));
    });
  }
}

const store = new Store(@{store});

async function @{fnCamel}(keys) {
  if (!@{single}) return store.call('MGET', ...keys);
  const entries = [];
  for (const key of keys) entries.push(await store.call('GET', key));
  return entries;
}

http.createServer(async (request, response) => {
  const first = Number(request.url.split('/').pop()) * @{entries};
  const keys = Array.from({ length: @{shown} }, (_, i) => `@{prefix}:${(first + i) % (@{entries} * 4)}`);
  const entries = await @{fnCamel}(keys);
  let body = JSON.stringify(entries);
  const hash = crypto.createHash('md5');
  for (let i = 0; i < @{rounds}; i++) hash.update(body);
  response.writeHead(200, { ETag: hash.digest('hex'), 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}).listen(@{port}, '127.0.0.1');
