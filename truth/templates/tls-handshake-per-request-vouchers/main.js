// Redeems the vouchers of a museum's shop.
'use strict';
const crypto = require('crypto');
const fs = require('fs');
const https = require('https');

const authority = fs.readFileSync('@{work}/partner.pem');
const now = () => Number(process.hrtime.bigint()) / 1e9;
const pause = seconds => new Promise(done => setTimeout(done, Math.max(0, seconds) * 1000));

class Line {
  constructor() {
    this.spent = 0;
    this.agent = null;
    this.made = 0;
  }

  @{fnCamel}() {
    if (!this.agent || now() - this.made > @{life}) {
      if (this.agent) this.agent.destroy();
      this.agent = new https.Agent({ keepAlive: true, maxSockets: 1, ca: authority });
      this.made = now();
    }
    return this.agent;
  }

  look(number) {
    return new Promise((done, failed) => {
      const options = { host: '127.0.0.1', port: @{partner}, path: `/vouchers/${number}`, agent: this.@{fnCamel}() };
      const request = https.get(options, answer => {
        const parts = [];
        answer.on('data', part => parts.push(part));
        answer.on('end', () => done(JSON.parse(Buffer.concat(parts).toString())));
      });
      request.on('socket', socket => {
        let began = 0;
        socket.once('connect', () => { began = now(); });
        socket.once('secureConnect', () => { this.spent += began ? now() - began : 0; });
      });
      request.on('error', failed);
    });
  }
}

// The bar code under the receipt.
function code(voucher) {
  let text = `${voucher.voucher} ${voucher.valid} ${voucher.text}`;
  for (let i = 0; i < @{rounds} * 4; i++) {
    text = (crypto.createHash('sha256').update(text).digest('hex') + text).slice(0, 900);
  }
  return text;
}

async function till(number, end) {
  const line = new Line();
  const sum = { units: 0, busy: 0, spent: 0 };
  for (let due = now(); now() < end;) {
    due = Math.max(due + 1 / @{rate}, now());
    await pause(due - now());
    const start = now();
    code(await line.look(number * 100000 + sum.units));
    sum.busy += now() - start;
    sum.units++;
  }
  sum.spent = line.spent;
  if (line.agent) line.agent.destroy();
  return sum;
}

async function main() {
  const end = now() + @{seconds};
  const sums = await Promise.all(Array.from({ length: @{workers} }, (_, number) => till(number, end)));
  const total = name => sums.reduce((all, sum) => all + sum[name], 0);
  fs.writeFileSync('@{report}', JSON.stringify({ units: total('units'), seconds: total('busy'), culprit: total('spent') }));
}

main().catch(error => {
  console.error(error);
  process.exit(1);
});
