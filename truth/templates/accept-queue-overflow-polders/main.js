'use strict';
// The station of a water board: takes the gauges' levels, and answers how far the pumps should open.
const net = require('node:net');

const levels = new Map();

// Fits a tide of each period to the levels, and takes the best one.
function forecast(level) {
  let best = 0;
  let next = 0;
  for (let period = 60; period < 380; period++) {
    let sine = 0;
    let cosine = 0;
    for (let hour = 0; hour < level.length; hour++) {
      const angle = 2 * Math.PI * hour * 10 / period;
      sine += level[hour] * Math.sin(angle);
      cosine += level[hour] * Math.cos(angle);
    }
    const power = sine * sine + cosine * cosine;
    if (power > best) {
      best = power;
      next = Math.atan2(sine, cosine);
    }
  }
  return next;
}

function report(gauge) {
  let text = '';
  gauge.setEncoding('latin1');
  gauge.setNoDelay(true);
  gauge.on('error', (error) => console.error(error.message));
  gauge.on('data', (part) => {
    text += part;
    if (!text.endsWith('\n')) return;
    const [name, ...words] = text.trim().split(' ');
    const level = words.map(Number);
    levels.set(name, level);
    gauge.end(`pumps ${Math.trunc(forecast(level) * 100)}\n`);
  });
}

function @{fnCamel}() {
  const station = net.createServer(report);
  station.listen({ port: @{port}, host: '127.0.0.1', backlog: @{waiting} });
  return station;
}

@{fnCamel}();
