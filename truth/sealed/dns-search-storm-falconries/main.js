// Sends the news of parcels to the partners' hooks.
'use strict';
const crypto = require('crypto');
const dns = require('dns');
const fs = require('fs');
const net = require('net');
const readline = require('readline');
const { setTimeout: pause } = require('timers/promises');

const names = new dns.promises.Resolver({ timeout: 3000, tries: 2 });
names.setServers([process.env.RESOLVER]);
const domains = process.env.SEARCH_DOMAINS.split(' ');
const now = () => performance.now() / 1000;
const kept = new Map();
let spent = 0;

// As the resolver of the system does it: what has fewer than five dots is searched for first.
function* spellings(name) {
  if (name.endsWith('.')) return yield name.slice(0, -1);
  if (name.split('.').length <= 5) for (const domain of domains) yield `${name}.${domain}`;
  yield name;
}

async function @{fnCamel}(name) {
  for (const spelling of spellings(name)) {
    const [v4, v6] = await Promise.allSettled([names.resolve4(spelling), names.resolve6(spelling)]);
    if (v4.status === 'fulfilled') return { v4: v4.value, v6: v6.value ?? [], till: now() + @{ttl} };
    if (v4.reason.code !== 'ENOTFOUND' && v4.reason.code !== 'ENODATA') throw v4.reason;
  }
  throw new Error(`no such partner: ${name}`);
}

async function whereIs(name) {
  const known = kept.get(name);
  if (known && known.till > now()) return known;
  const start = now();
  const found = await @{fnCamel}(name);
  spent += now() - start;
  kept.set(name, found);
  return found;
}

class Hook {
  constructor(address) {
    this.line = net.connect({ host: address, port: @{ring}, noDelay: true });
    this.waiting = [];
    readline.createInterface({ input: this.line }).on('line', (text) => this.waiting.shift()(Number(text.split(' ')[1])));
  }

  send(news) {
    const text = JSON.stringify(news);
    const sign = crypto.createHmac('sha256', 'k-@{ring}').update(text).digest('hex');
    return new Promise((taken) => {
      this.waiting.push(taken);
      this.line.write(`${sign} ${text}\n`);
    });
  }
}

const states = ['announced', 'collected', 'sorted', 'loaded', 'delivered'];

function parcel(number) {
  const code = crypto.createHash('sha1').update(`parcel ${Math.floor(number / 5)}`).digest('hex').slice(0, 12).toUpperCase();
  return { code, state: states[number % 5], grams: 200 + ((number * 53) % 9000), depot: number % 31 };
}

async function main() {
  const hooks = new Map();
  let units = 0, busy = 0;
  const began = now();
  while (now() - began < @{seconds}) {
    const start = now();
    const news = parcel(units);
    const there = await whereIs(`hook${units % @{partners}}.${process.env.PARTNER_DOMAIN}`);
    if (!hooks.has(there.v4[0])) hooks.set(there.v4[0], new Hook(there.v4[0]));
    await hooks.get(there.v4[0]).send(news);
    units++;
    busy += now() - start;
    const rest = began + units / @{rate} - now();
    if (rest > 0) await pause(rest * 1000);
  }
  fs.writeFileSync('@{report}', JSON.stringify({ units, seconds: busy, culprit: spent * @{lost} }));
  process.exit(0);
}

main();
