'use strict';
const http = require('http');

const agent = new http.Agent({ keepAlive: true, maxSockets: 32 });
const services = { weather: @{one}, traffic: @{two}, hotels: @{three}, events: @{four} };

const get = (port, path) => new Promise((resolve, reject) => {
  http.get({ host: '127.0.0.1', port, path, agent }, (answer) => {
    let text = '';
    answer.setEncoding('utf8');
    answer.on('data', (part) => { text += part; });
    answer.on('end', () => resolve(JSON.parse(text)));
  }).on('error', reject);
});

async function @{fnCamel}(place) {
  const wanted = [];
  for (let day = 0; day < @{each}; day++) {
    for (const name of Object.keys(services)) wanted.push([name, `/${name}/${place}/${day}`]);
  }
  const found = {};
  if ('@{order}' === 'together') {
    const answers = await Promise.all(wanted.map(([name, path]) => get(services[name], path)));
    answers.forEach((answer, i) => { found[wanted[i][1]] = answer; });
  } else if ('@{order}' === 'serial') {
    for (const [name, path] of wanted) found[path] = await get(services[name], path);
  } else {
    let last = { id: place };
    for (const name of Object.keys(services)) found[name] = last = await get(services[name], `/${name}/${last.id}`);
  }
  return found;
}

http.createServer((request, response) => {
  @{fnCamel}(request.url.split('/').pop()).then((found) => {
    let text = JSON.stringify(found);
    for (let i = 0; i < @{rounds} / 20; i++) text = JSON.stringify(JSON.parse(text));
    response.writeHead(200, { 'Content-Length': Buffer.byteLength(text) });
    response.end(text);
  }, (error) => { response.writeHead(502); response.end(String(error)); });
}).listen(@{port}, '127.0.0.1');
