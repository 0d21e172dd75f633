'use strict';
// The page of the avalanche service: how dangerous is a slope today?
const http = require('http');
const net = require('net');

const idle = [];
const told = new Map();

function connect() {
  const line = net.connect({ port: @{relay}, host: '127.0.0.1', noDelay: true });
  line.setEncoding('ascii');
  return line;
}

function askRelay(slope) {
  return new Promise((resolve, reject) => {
    const line = idle.pop() || connect();
    let got = '';
    const hear = (part) => {
      got += part;
      if (!got.endsWith('\n')) return;
      line.off('data', hear);
      line.off('error', reject);
      idle.push(line);
      resolve(got.trim().split(' ').slice(1).map((layer) => layer.split(':').map(Number)));
    };
    line.on('data', hear);
    line.on('error', reject);
    line.write(`slope ${slope}\n`);
  });
}

function danger(layers) {
  let stress = 0;
  let worst = 0;
  for (let round = 0; round < @{rounds}; round++) {
    let load = round / 50;
    for (const [thick, density, hard] of layers) {
      load += thick * density * 9.81 / 1e5;
      const weak = load / (hard * (1 + thick / 80));
      stress += weak;
      if (weak > worst) worst = weak;
    }
  }
  return { level: Math.min(5, 1 + Math.floor(worst)), stress };
}

async function slopePage(slope) {
  const layers = @{ahead} ? told.get(slope) : await askRelay(slope);
  if (!layers) return { slope, level: 'unknown' };
  return { slope, layers: layers.length, ...danger(layers) };
}

async function listenToAll() {
  for (let slope = 0; ; slope = (slope + 1) % @{slopes}) told.set(slope, await askRelay(slope));
}

const server = http.createServer(async (ask, answer) => {
  const number = Number(ask.url.split('/').pop());
  try {
    const body = JSON.stringify(await slopePage(number % @{slopes}));
    answer.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length });
    answer.end(body);
  } catch (error) {
    answer.writeHead(502).end(String(error));
  }
});

if (@{ahead}) listenToAll();
server.listen(@{port}, '127.0.0.1');
