// Gift vouchers: an order gets its vouchers, each with a code that nobody can guess.
'use strict';
const { createHash, randomBytes } = require('node:crypto');
const { execFile } = require('node:child_process');
const { promisify } = require('node:util');
const http = require('node:http');

const run = promisify(execFile);
const SHOP = '@{shop}';
const CENTS = [1000, 1500, 2500, 5000, 10000];

async function @{fnCamel}(size) {
  const { stdout } = await run('@{tool}', ['rand', '-hex', String(size)]);
  return stdout.trim();
}

class Vouchers {
  constructor() {
    this.orders = 0;
    this.series = randomBytes(4).toString('hex');
  }

  async of(order) {
    this.orders += 1;
    if (@{series} && this.orders % @{series} === 0) this.series = await @{fnCamel}(4);
    const made = [];
    for (let place = 0; place < @{vouchers}; place++) {
      const code = '@{codes}' === 'tool' ? await @{fnCamel}(@{letters}) : randomBytes(@{letters}).toString('hex');
      const check = createHash('sha256').update(`${SHOP}/${this.series}/${code}`).digest('hex').slice(0, 6);
      made.push({ code, cents: CENTS[(order + place) % CENTS.length], check });
    }
    return made;
  }
}

const vouchers = new Vouchers();
http.createServer(async (request, response) => {
  const found = /^\/orders\/(\d+)\/vouchers$/.exec(request.url);
  if (!found) {
    response.writeHead(404).end();
    return;
  }
  try {
    const order = Number(found[1]);
    const body = JSON.stringify({ order, vouchers: await vouchers.of(order) });
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }).end(body);
  } catch (error) {
    response.writeHead(500).end(error.message);
  }
}).listen(@{port}, '127.0.0.1');
