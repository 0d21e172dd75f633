// Tells the signs at the stops when the next vehicle comes: from the positions, as they arrive.
const fs = require('fs');

const STOPS = Array.from({ length: @{fences} * 3 }, (_, i) => ({ name: `stop ${i}`, lat: 48 + i % 7 / 7, lon: 11 + i % 11 / 11, waits: 0 }));
const last = new Map();
const seconds = () => Number(process.hrtime.bigint()) / 1e9;

function valueOf(text) {
  return /^-?\d+(\.\d+)?$/.test(text) ? parseFloat(text) : text;
}

function @{fnCamel}(lines) {
  const found = [];
  for (const line of lines) {
    const [time, ...words] = line.split(' ');
    const position = { at: new Date(time) };
    for (const word of words) {
      const [name, value] = word.split('=');
      position[name] = valueOf(value);
    }
    found.push(position);
  }
  return found;
}

// Number, place: they stand in the same columns of each line.
function byPlace(lines) {
  const found = [];
  for (const line of lines) {
    found.push({ vehicle: +line.substring(33, 37), lat: +line.substring(42, 50), lon: +line.substring(55, 64) });
  }
  return found;
}

function away(position, stop) {
  const y = position.lat - stop.lat;
  const x = (position.lon - stop.lon) * Math.cos(position.lat * Math.PI / 180);
  return Math.sqrt(x * x + y * y) * 111.2;
}

function show(position) {
  const before = last.get(position.vehicle);
  for (const stop of STOPS) {
    const far = away(position, stop);
    const way = before ? away(before, stop) - far : 0;
    if (way > 0.01) stop.waits = far / way;
  }
  last.set(position.vehicle, { lat: position.lat, lon: position.lon });
}

const totals = { units: 0, seconds: 0, culprit: 0 };
const began = seconds();
let rest = '';

function finish() {
  fs.writeFileSync('@{report}', JSON.stringify(totals));
  process.exit(0);
}

fs.createReadStream('@{work}/@{feed}', { encoding: 'latin1' }).on('data', (text) => {
  const start = seconds();
  const lines = (rest + text).split('\n');
  rest = lines.pop();
  const parsing = seconds();
  const positions = '@{way}' === 'fields' ? @{fnCamel}(lines) : byPlace(lines);
  totals.culprit += seconds() - parsing;
  positions.forEach(show);
  totals.units += positions.length;
  totals.seconds += seconds() - start;
  if (seconds() - began > @{seconds}) finish();
}).on('end', finish);
