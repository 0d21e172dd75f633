// Shows the climate of rooms. The readings of the years before are resampled by processes that it starts.
const http = require('http');
const os = require('os');
const { fork } = require('child_process');

function @{fnCamel}(room) {
  let at = room | 1, warm = 0;
  for (let reading = 0; reading < @{work_ms} * 280000; reading++) {
    at = (Math.imul(at, 1664525) + 1013904223) | 0;
    if (at > 1000000000) warm++;
  }
  return warm;
}

function @{fn2}(region) {
  const hours = new Float64Array(8760);
  let value = region + 17;
  for (let reading = 0; reading < 3000000; reading++) {
    value = (Math.imul(value, 1664525) + 1013904223) | 0;
    hours[reading % 8760] += (value >>> 8) / 16777216;
  }
  return hours.reduce((a, b) => Math.max(a, b));
}

if (process.argv[2] === '@{helper}') {
  process.title = '@{helper}';
  os.setPriority(@{nice});
  let most = 0;
  process.on('disconnect', () => process.exit());
  const next = () => {
    most = Math.max(most, @{fn2}(Number(process.argv[3])));
    setImmediate(next);
  };
  next();
} else {
  for (let region = 0; region < @{jobs}; region++) fork(__filename, ['@{helper}', String(region)]);
  http.createServer((request, response) => {
    const found = /^\/rooms\/(\d+)/.exec(request.url);
    if (!found) return response.writeHead(404).end();
    const text = JSON.stringify({ room: Number(found[1]), warm: @{fnCamel}(Number(found[1])) });
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': text.length });
    response.end(text);
  }).listen(@{port}, '127.0.0.1');
}
