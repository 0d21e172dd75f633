// Says where the planets stand, and draws the pictures of the dome ahead of the show.
const http = require('http');
const os = require('os');
const { fork } = require('child_process');

const PLANETS = [['Mercury', 87.97, 0.2056, 0.387], ['Venus', 224.7, 0.0068, 0.723], ['Mars', 686.98, 0.0934, 1.524],
  ['Jupiter', 4332.6, 0.0485, 5.203], ['Saturn', 10759, 0.0555, 9.537], ['Uranus', 30688, 0.0463, 19.19], ['Neptune', 60182, 0.009, 30.07]];

function kepler(mean, e) {
  let angle = mean;
  for (let i = 0; i < 12; i++)
    angle -= (angle - e * Math.sin(angle) - mean) / (1 - e * Math.cos(angle));
  return angle;
}

// The way of each planet through the night, and when it is highest.
function sky(day) {
  const result = [];
  for (const [name, period, e, axis] of PLANETS) {
    let best = 0, highest = -Infinity;
    for (let step = 0; step < @{effort} * 20; step++) {
      const t = day + step / (@{effort} * 20);
      const angle = kepler((2 * Math.PI * t / period) % (2 * Math.PI), e);
      const height = axis * (1 - e * Math.cos(angle)) * Math.sin(2 * Math.PI * t + angle);
      if (height > highest) {
        highest = height;
        best = step;
      }
    }
    result.push({ name, highest: Number(highest.toFixed(4)), hour: Number((best * 24 / (@{effort} * 20)).toFixed(2)) });
  }
  return result;
}

// One picture of the dome after the other; a message has the light of each.
function @{fnCamel}(first) {
  for (let picture = first; picture < first + 8; picture++) {
    const line = new Float64Array(@{width});
    for (let y = 0; y < @{width}; y++)
      for (let x = 0; x < @{width}; x++)
        line[x] += Math.exp(-((x * 7919 + y * 104729 + picture) % 997) / 90);
    if (picture % 400 === 0)
      process.send({ picture, light: line.reduce((sum, light) => sum + light, 0) });
  }
  setImmediate(@{fnCamel}, first + 8);
}

if (process.argv[2] === 'draw') {
  process.title = '@{painter}';
  os.setPriority(@{nice});
  process.on('disconnect', () => process.exit());
  @{fnCamel}(Number(process.argv[3]));
} else {
  const drawn = new Map();
  for (let i = 0; i < @{painters}; i++)
    fork(__filename, ['draw', String(i * 1e6)]).on('message', (m) => drawn.set(m.picture % 1e6, m.light));
  http.createServer((request, response) => {
    const body = JSON.stringify({ drawn: drawn.size, planets: sky(Number(request.url.split('/').pop())) });
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) });
    response.end(body);
  }).listen(@{port}, '127.0.0.1');
}
