// Exports of a shop's articles for its partners, as compressed JSON.
const http = require('http');
const zlib = require('zlib');
const { promisify } = require('util');

const compress = promisify(zlib.brotliCompress);
const SHOPS = @{shops};
const kept = new Map();

function articles(shop) {
  const all = [];
  let chance = shop * 7919 + 1;
  for (let i = 0; i < @{rows}; i++) {
    chance = (chance * 16807) % 2147483647;
    let text = '';
    while (text.length < @{width}) text += ['fine', 'large', 'blue', 'with lid', 'of steel', 'for two', 'new'][(chance + text.length * 31) % 7] + ' ';
    all.push({ id: shop * 100000 + i, price: (chance % 90000) / 100, stock: chance % 40, text });
  }
  return all;
}

const shops = Array.from({ length: SHOPS }, (_, shop) => articles(shop));

async function @{fnCamel}(shop) {
  const asked = Date.now();
  const before = kept.get(shop);
  if (before && asked - before.when < @{kept} * 1000) return before.body;
  const rows = shops[shop];
  rows[asked % rows.length].stock++;
  const text = JSON.stringify({ shop, rows });
  const options = '@{effort}' === 'little' ? { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 3 } } : {};
  const body = await compress(text, options);
  kept.set(shop, { when: asked, body });
  return body;
}

const server = http.createServer(async (request, response) => {
  const found = /^\/exports\/(\d+)/.exec(request.url);
  if (!found) return response.writeHead(404).end();
  const body = await @{fnCamel}(Number(found[1]) % SHOPS);
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Encoding': 'br', 'Content-Length': body.length });
  response.end(body);
});

(async () => {
  // What is kept for long is made before anybody asks.
  if (@{kept} > 60) for (let shop = 0; shop < SHOPS; shop++) await @{fnCamel}(shop);
  server.listen(@{port}, '127.0.0.1');
})();
