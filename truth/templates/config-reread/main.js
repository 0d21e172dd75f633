'use strict';
const fs = require('fs');
const net = require('net');

const file = '@{work}/@{deep}/@{config}';
let text = null;
let at = 0;

function @{fnCamel}(key) {
  const time = performance.now();
  if (text === null || time - at >= @{ttl} * 1000) {
    text = fs.readFileSync(file, 'utf8');
    at = time;
  }
  const from = text.indexOf(key + ' = ');
  return parseInt(text.slice(from + key.length + 3, text.indexOf('\n', from)), 10);
}

function route(number) {
  let sum = number;
  for (let i = 0; i < @{looks}; i++) {
    const limit = @{fnCamel}('limit.' + (1 + ((number + i) % @{lines})));
    for (let k = 0; k < @{extra} * 5; k++) sum = (sum * 31 + limit) | 0;
  }
  return sum;
}

const server = net.createServer({ noDelay: true }, (socket) => {
  let rest = '';
  socket.on('data', (data) => {
    const lines = (rest + data).split('\n');
    rest = lines.pop();
    for (const line of lines) socket.write(`routed ${route(parseInt(line.split(' ')[1], 10))}\n`);
  });
  socket.on('error', () => socket.destroy());
});
server.listen(@{port}, '127.0.0.1');
