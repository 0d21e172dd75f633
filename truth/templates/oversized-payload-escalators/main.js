// The service of who keeps the escalators of the stations running: their states for the boards, and the manuals for the mechanics.
const fs = require('fs');
const http = require('http');
const path = require('path');

const MANUALS = process.argv[2];
const STATIONS = ['Hauptbahnhof', 'Ostkreuz', 'Rathaus', 'Messe', 'Flughafen', 'Zoo', 'Hafen'];

class Escalator {
  constructor(number) {
    this.number = number;
    this.region = number % 16;
    this.station = `${STATIONS[number % STATIONS.length]} ${number % 310}`;
    this.starts = number * 31 % 9000;
    this.tremors = Array.from({ length: @{hours} }, (_, hour) => ((number * 7919 + hour * 104729) % 9973) / 1000);
    this.kept = `"tremors":[${this.tremors.join(',')}],"machine":{"type":"e${number % 4}","steps":${60 + number % 40},"rise":${4 + number % 9}}`;
    this.set('runs');
  }

  set(state) {
    this.state = state;
    this.shown = `"number":${this.number},"station":"${this.station}","state":"${state}","starts":${this.starts++}`;
    this.row = Buffer.from(`${this.number ? ',\n' : ''}{${this.shown},"region":${this.region},${this.kept}}`);
  }
}

class Register {
  constructor(count) {
    this.all = Array.from({ length: count }, (_, number) => new Escalator(number));
    this.turn = 0;
  }

  // What the machines have told since the last time.
  heard() {
    for (let i = 0; i < 40; i++) {
      const one = this.all[(this.turn = (this.turn + 977) % this.all.length)];
      one.set(one.state === 'runs' && this.turn % 5 === 0 ? 'stands' : 'runs');
    }
  }

  @{fnCamel}(region, page) {
    const stands = this.all.filter((one) => one.state !== 'runs' && one.region === region);
    if (@{whole}) {
      const head = Buffer.from(`{"stands":${stands.length},"escalators":[`);
      return Buffer.concat([head, ...this.all.map((one) => one.row), Buffer.from(']}')]);
    }
    const others = this.all.filter((one) => one.state === 'runs' && one.region === region);
    const rows = stands.concat(others).slice((page - 1) * @{page}, page * @{page}).map((one) => `{${one.shown}}`);
    return Buffer.from(`{"stands":${stands.length},"escalators":[${rows.join(',\n')}]}`);
  }
}

const register = new Register(@{escalators});
setInterval(() => register.heard(), 250);

function manual(name, response) {
  const file = path.join(MANUALS, `type-${Number(name.replace(/\D/g, '')) % 4}.pdf`);
  response.writeHead(200, { 'Content-Type': 'application/pdf', 'Content-Length': fs.statSync(file).size });
  fs.createReadStream(file, { highWaterMark: 256 * 1024 }).pipe(response);
}

http.createServer((request, response) => {
  const url = new URL(request.url, 'http://board');
  if (url.pathname.startsWith('/manuals/')) return manual(url.pathname, response);
  if (url.pathname !== '/escalators') return response.writeHead(404).end();
  const body = register.@{fnCamel}(Number(url.searchParams.get('region')) % 16, Number(url.searchParams.get('page')) || 1);
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length });
  response.end(body);
}).listen(@{port}, '127.0.0.1');
