// Tells the scanners of a parcel service where a parcel goes next.
'use strict';
const fs = require('fs');
const https = require('https');

const DEPOTS = 40;
const roads = Array.from({ length: DEPOTS }, (_, n) =>
  [1, 2, 3].map(i => [(n * 7 + i * 11) % DEPOTS, 20 + (n * i * 13) % 90]).concat([[(n + 1) % DEPOTS, 60]]));

// The first stop on the shortest way.
function way(here, there) {
  const best = new Map([[here, 0]]);
  const todo = [{ far: 0, depot: here, first: null }];
  while (todo.length) {
    todo.sort((a, b) => b.far - a.far);
    const { far, depot, first } = todo.pop();
    if (depot === there) return first;
    for (const [neighbour, minutes] of roads[depot]) {
      if (far + minutes < (best.get(neighbour) ?? Infinity)) {
        best.set(neighbour, far + minutes);
        todo.push({ far: far + minutes, depot: neighbour, first: first ?? neighbour });
      }
    }
  }
  return null;
}

const stops = new Map();
function next(parcel) {
  const there = Number(parcel.slice(1)) % @{stops};
  if (!stops.has(there)) stops.set(there, way(3, there));
  return stops.get(there);
}

const server = https.createServer({
  cert: fs.readFileSync('@{work}/parcels.pem'),
  key: fs.readFileSync('@{work}/parcels.key'),
  keepAlive: true,
  noDelay: true,
}, (request, response) => {
  let text = '';
  request.setEncoding('utf8');
  request.on('data', part => { text += part; });
  request.on('end', () => {
    const told = text.split(',').map(parcel => `${parcel} to depot ${next(parcel)};`).join('');
    if ('@{hold}' === 'no') response.setHeader('Connection', 'close');
    response.setHeader('Content-Length', Buffer.byteLength(told));
    response.end(told);
  });
});
server.keepAliveTimeout = 30000;
server.on('tlsClientError', error => console.error('line ended:', error.message));
server.listen(@{port}, '127.0.0.1');
