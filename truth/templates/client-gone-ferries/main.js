'use strict';
// Gives out the berths of ferries: wishes are gathered for a round, and then those who wish the same deck get berths side by side.
const net = require('net');

const free = new Array(@{ships}).fill(0);
let open = [];

function closeRound() {
  const round = open;
  open = [];
  round.sort((a, b) => a.number % 7 - b.number % 7);
  for (const wish of round) {
    free[wish.ship] = (free[wish.ship] + 1) % @{berths};
    wish.give(free[wish.ship]);
  }
}

function berthFor(ship, number) {
  return new Promise((give) => {
    open.push({ ship, number, give });
    if (open.length === 1) setTimeout(closeRound, @{hold});
  });
}

function fields(text) {
  const parts = text.split('\0');
  const all = {};
  for (let i = 0; i + 1 < parts.length; i += 2) all[parts[i]] = parts[i + 1];
  return all;
}

function plan(ship, berth) {
  const lines = [];
  let size = 0;
  for (let place = 0; size < @{bytes}; place = (place + 1) % @{berths}) {
    const line = `ship ${ship} deck ${place % 5} berth ${place} ${place === berth ? '*' : '.'}\n`;
    lines.push(line);
    size += line.length;
  }
  return lines.join('').slice(0, @{bytes});
}

async function @{fnCamel}(front, ship, number) {
  const berth = await berthFor(ship, number);
  front.write(`Status: 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${@{bytes}}\r\n\r\n`);
  front.end(plan(ship, berth));
}

// Some web servers shut down their half when the question is out.
const server = net.createServer({ allowHalfOpen: true }, (front) => {
  let got = '';
  let asked = false;
  front.setEncoding('latin1');
  front.on('error', (error) => console.error(`front: ${error.code}`));
  front.on('data', (part) => {
    got += part;
    const colon = got.indexOf(':');
    if (asked || colon < 0 || got.length < colon + 2 + Number(got.slice(0, colon))) return;
    asked = true;
    const uri = fields(got.slice(colon + 1)).REQUEST_URI || '';
    const [, , ship, number] = uri.split('/');
    if (number === undefined) front.end('Status: 404 Not Found\r\n\r\n');
    else @{fnCamel}(front, Number(ship), Number(number));
  });
  front.on('end', () => {
    if (!asked) front.end();
  });
});

server.listen('@{work}/@{gate}');
