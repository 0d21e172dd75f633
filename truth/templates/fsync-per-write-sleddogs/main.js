// The office of a sled dog race: when will a team be at the checkpoints that are ahead of it?
'use strict';
const fs = require('node:fs/promises');
const http = require('node:http');

const LEGS = Array.from({ length: @{legs} }, (_, n) => ({ name: `cp${n}`, miles: 6 + (n * 37) % 19, climb: (n * 53) % 700 }));

class Journal {
  constructor(file) {
    this.file = file;
    this.pending = [];
    this.turn = Promise.resolve();
  }

  async @{fnCamel}(lines) {
    await this.file.write(lines.join(''));
    await this.file.datasync();
  }

  add(lines) {
    if (@{group} === 0) {
      this.pending.push(...lines);
      return Promise.resolve();
    }
    this.turn = this.turn.then(async () => {
      for (let at = 0; at < lines.length; at += @{group}) await this.@{fnCamel}(lines.slice(at, at + @{group}));
    });
    return this.turn;
  }

  async everySecond() {
    const lines = this.pending.splice(0);
    if (lines.length) await this.@{fnCamel}(lines);
  }
}

function pace(team, leg, trail) {
  const tired = 1 + 0.004 * leg + 0.1 * Math.sin(team * 0.7 + leg * 0.3);
  return (trail.miles / 8.5 + trail.climb / 2200) * tired;
}

function estimates(team) {
  let hours = 0;
  return LEGS.map((trail, leg) => {
    hours += pace(team, leg, trail);
    if (leg % 12 === 11) hours += 4;
    return { checkpoint: trail.name, at: Number(hours.toFixed(2)) };
  });
}

async function main() {
  const journal = new Journal(await fs.open('@{work}/@{journal}', 'a'));
  setInterval(() => journal.everySecond(), 1000);
  http.createServer(async (request, response) => {
    const team = Number(request.url.split('/')[2]);
    if (!Number.isInteger(team)) {
      response.writeHead(404).end();
      return;
    }
    const list = estimates(team % 60);
    await journal.add(list.map(one => `${team} ${one.checkpoint} ${one.at}\n`));
    const body = JSON.stringify({ team, list });
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) });
    response.end(body);
  }).listen(@{port}, '127.0.0.1');
}

main();
