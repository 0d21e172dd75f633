// The control centre of the snow ploughs. GET /next tells a driver the next street of the round; the police say by datagrams which streets are shut or open.
const dgram = require('dgram');
const http = require('http');
const { Worker, isMainThread, parentPort } = require('worker_threads');

const STREETS = @{streets};
const HERE = '@{place}' === 'here';

let seed = 5;
function chance(below) {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor((seed / 4294967296) * below);
}

const places = Array.from({ length: STREETS }, () => [chance(9000), chance(6000)]);
const between = (from, to) => Math.hypot(places[from][0] - places[to][0], places[from][1] - places[to][1]);

// Turns parts of the round about, as long as there is time, and keeps what makes it shorter.
function @{fnCamel}(from) {
  const round = from.slice();
  const stop = performance.now() + @{effort};
  while (performance.now() < stop) {
    for (let k = 0; k < 100; k++) {
      let i = chance(round.length - 2);
      let j = i + 1 + chance(round.length - i - 2);
      const [a, b, c, d] = [round[i], round[i + 1], round[j], round[j + 1]];
      if (between(a, b) + between(c, d) <= between(a, c) + between(b, d) + 1e-6) continue;
      for (i += 1; i < j; i++, j--) [round[i], round[j]] = [round[j], round[i]];
    }
  }
  return round;
}

function centre() {
  const shut = new Set();
  let round = places.map((_, street) => street);
  let at = 0;
  const openStreets = () => {
    const kept = new Set(round);
    return [...round, ...places.keys()].filter((street, i) => !shut.has(street) && (i < round.length || !kept.has(street)));
  };
  const aside = HERE ? null : new Worker(__filename);
  aside?.on('message', (made) => {
    round = made;
    round = openStreets();
  });

  const notes = dgram.createSocket('udp4');
  notes.on('message', (message) => {
    const [word, street] = message.toString().split(' ');
    if (word === 'shut') shut.add(Number(street));
    else shut.delete(Number(street));
    round = openStreets();
    if (HERE) round = @{fnCamel}(round);
    else aside.postMessage(round);
  });
  notes.bind(@{notes}, '127.0.0.1');

  const server = http.createServer((request, response) => {
    const plough = Number(new URL(request.url, 'http://here').searchParams.get('plough'));
    at = (at + 1) % round.length;
    const body = JSON.stringify({ plough, street: round[at], left: round.length - at });
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length });
    response.end(body);
  });
  server.listen(@{port}, '127.0.0.1');
}

if (isMainThread) centre();
else parentPort.on('message', (round) => parentPort.postMessage(@{fnCamel}(round)));
