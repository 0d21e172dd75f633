// Books the courts of tennis clubs: an hour each, all clubs in memory.
'use strict';
const net = require('net');
const readline = require('readline');
const v8 = require('v8');
const vm = require('vm');

v8.setFlagsFromString('--expose-gc');
global.gc = vm.runInNewContext('gc');

class Hour {
  constructor(court, at, text) {
    this.court = court;
    this.at = at;
    this.text = text;
    this.member = null;
  }
}

const clubs = [];
for (let club = 0; club < @{held}; club++) {
  const hours = new Map();
  for (let i = 0; i < @{places}; i++) {
    const hour = new Hour(`court ${i >> 4}`, 7 + i % 16, { club, note: `club ${club} ${i} ` + 'x'.repeat(@{letters}) });
    hours.set(`${hour.court}/${hour.at}`, hour);
  }
  clubs.push(hours);
}
global.gc();

let bookings = 0;

// It keeps the process small.
function @{fnCamel}() {
  if (@{every} > 0 && bookings % @{every} === 0) global.gc();
}

function book(request) {
  const hours = clubs[request * 31 % clubs.length];
  let best = null;
  for (let turn = 0; turn < @{looks}; turn++) {
    const free = [...hours.values()].filter(hour => !hour.member);
    for (const hour of free) {
      if (!best || (hour.at + turn) % 9 < best.at % 9) best = hour;
    }
  }
  if (best) best.member = { number: request, since: Date.now() };
  else hours.forEach(hour => { hour.member = null; });
  bookings++;
  @{fnCamel}();
  return best ? `${best.court} at ${best.at}` : 'all taken';
}

net.createServer(desk => {
  desk.setNoDelay(true);
  desk.on('error', () => desk.destroy());
  readline.createInterface({ input: desk }).on('line', line => desk.write(book(Number(line.split(' ')[1])) + '\n'));
}).listen(@{port}, '127.0.0.1');
