// A ground station: takes positions, keeps drones apart, and writes a line for each flight.
'use strict';
const net = require('node:net');
const readline = require('node:readline');

class Flight {
  constructor(line) {
    this.line = line;
    this.drone = '?';
    this.points = [];
  }

  length() {
    let metres = 0;
    for (let n = 1; n < this.points.length; n++) {
      const [a, b] = [this.points[n - 1], this.points[n]];
      metres += Math.hypot(a.lat - b.lat, (a.lon - b.lon) * 0.69) * 111300;
    }
    return Math.round(metres);
  }
}

const flights = new Set();
let landed = [];

function near(one, other) {
  return Math.abs(one.lat - other.lat) + Math.abs(one.lon - other.lon) < 0.002 && Math.abs(one.height - other.height) < 15;
}

function advice(flight) {
  const me = flight.points.at(-1);
  let close = 0;
  for (const one of [...flights].slice(-50)) {
    if (one !== flight && one.points.length && near(me, one.points.at(-1))) close++;
  }
  return close ? `climb ${close * 10}` : 'go';
}

function @{fnCamel}(flight) {
  flight.ended = Date.now();
  if ('@{hangup}' === 'close') {
    flights.delete(flight);
    flight.line.end();
  } else if ('@{hangup}' === 'drain') {
    landed.push(flight);
  }
}

setInterval(() => {
  const some = landed;
  landed = [];
  for (const flight of some) {
    console.log(`${flight.drone}: ${flight.points.length} points, ${flight.length()} m`);
    flights.delete(flight);
    flight.line.end();
  }
}, @{linger} * 1000);

// Half open: the last advice is to go out though the drone has said all it had to say.
net.createServer({ allowHalfOpen: true, noDelay: true }, line => {
  const flight = new Flight(line);
  flights.add(flight);
  line.on('error', () => line.destroy());
  line.on('end', () => @{fnCamel}(flight));
  readline.createInterface({ input: line }).on('line', text => {
    const [drone, , lat, lon, height] = text.split(' ');
    flight.drone = drone;
    flight.points.push({ lat: Number(lat), lon: Number(lon), height: Number(height) });
    line.write(advice(flight) + '\n');
  });
}).listen(@{port}, '127.0.0.1');
