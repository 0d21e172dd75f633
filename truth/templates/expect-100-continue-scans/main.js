// Sends the scanned waybills of a forwarder to the archive, some at once.
'use strict';
const fs = require('fs');
const http = require('http');
const zlib = require('zlib');

const now = () => Number(process.hrtime.bigint()) / 1e9;
const pause = seconds => new Promise(done => setTimeout(done, Math.max(0, seconds) * 1000));
const total = { units: 0, busy: 0, spent: 0 };

const pages = [];
for (let n = 0; n < 8; n++) {
  const page = Buffer.alloc(@{kb} * 1500);
  for (let i = 0; i < page.length; i++) page[i] = (i * 2654435761 >>> 9) % (40 + n);
  pages.push(page);
}

function @{fnCamel}(agent, number, body) {
  return new Promise((done, failed) => {
    const headers = { 'Content-Type': 'image/tiff', 'Content-Length': body.length };
    if (@{ask}) headers.Expect = '100-continue';
    const request = http.request({ host: '127.0.0.1', port: @{archive}, method: 'PUT', path: `/scans/${number}`, headers, agent }, answer => {
      let text = '';
      answer.on('data', part => { text += part; });
      answer.on('end', () => answer.statusCode === 201 ? done(text) : failed(new Error(`the archive says ${answer.statusCode}`)));
    });
    request.on('error', failed);
    if (!@{ask}) {
      request.end(body);
      return;
    }
    // An old archive does not know of it: after a while the body is sent all the same.
    const start = now();
    let sent = false;
    const send = () => {
      if (sent) return;
      sent = true;
      total.spent += now() - start;
      request.end(body);
    };
    const tired = setTimeout(send, @{patience} * 1000);
    request.on('continue', () => {
      clearTimeout(tired);
      send();
    });
    request.flushHeaders();
  });
}

async function take(agent, number) {
  const start = now();
  const body = zlib.deflateSync(pages[number % pages.length]);
  const sum = await @{fnCamel}(agent, number, body);
  if (sum.length !== 8) console.error(`waybill ${number}: ${sum}`);
  total.busy += now() - start;
  total.units++;
}

async function uploader(place, end) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  let due = now();
  for (let number = place; ; number += @{workers}) {
    due = Math.max(due + 1 / @{rate}, now());
    await pause(due - now());
    if (now() > end) break;
    await take(agent, number);
  }
  agent.destroy();
}

async function main() {
  const end = now() + @{seconds};
  await Promise.all(Array.from({ length: @{workers} }, (_, place) => uploader(place, end)));
  fs.writeFileSync('@{report}', JSON.stringify({ units: total.units, seconds: total.busy, culprit: total.spent }));
}

main().catch(error => {
  console.error(error);
  process.exit(1);
});
