'use strict';
const http = require('http');
const crypto = require('crypto');

// Orders are settled in rounds; whoever waits for one is told then.
const open = new Map();

function @{fnCamel}(key, body) {
  let order = open.get(key);
  if (!order) {
    order = { seal: '', asks: [] };
    open.set(key, order);
    setTimeout(() => {
      open.delete(key);
      for (const response of order.asks) tell(response, key, order.seal);
    }, @{hold});
  }
  order.seal = crypto.createHash('sha256').update(body).digest('hex');
  return order;
}

function tell(response, key, seal) {
  const text = `taken ${key} ${seal}\n`;
  response.writeHead(200, { 'Content-Length': text.length });
  response.end(text);
}

http.createServer((request, response) => {
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', () => @{fnCamel}(request.url.split('/').pop(), Buffer.concat(parts)).asks.push(response));
}).listen(@{port}, '127.0.0.1');
