// The station of the harbour pilots: takes the ships' positions as they come over the air, keeps a track of each, and says when one comes into an area.
const fs = require('fs');
const { PerformanceObserver } = require('perf_hooks');

const ANEW = '@{way}' === 'anew';
const LENGTH = @{length};
const pause = (seconds) => new Promise((done) => setTimeout(done, seconds * 1000));
const now = () => performance.now() / 1000;

// Places at which a ship was, as seen from where it is now.
class ListTrack {
  constructor() {
    // Of a ship that lay still until now.
    this.fixes = Array.from({ length: LENGTH }, (_, i) => ({ second: i - LENGTH, dx: 0.5, dy: 0.5, speed: 0.5 }));
    this.x = this.y = 0;
  }

  add({ second, x, y }) {
    this.fixes = this.@{fnCamel}(second, x - this.x, y - this.y);
    this.x = x;
    this.y = y;
  }

  @{fnCamel}(second, dx, dy) {
    const moved = [];
    for (let i = this.fixes.length - LENGTH + 1; i < this.fixes.length; i++) {
      const fix = this.fixes[i];
      moved.push({ second: fix.second, dx: fix.dx - dx, dy: fix.dy - dy, speed: fix.speed });
    }
    moved.push({ second, dx: 0, dy: 0, speed: Math.hypot(dx, dy) / 10 });
    return moved;
  }

  summary() {
    let way = 0;
    let fastest = 0;
    this.fixes.forEach((fix, i) => {
      if (i) way += Math.hypot(fix.dx - this.fixes[i - 1].dx, fix.dy - this.fixes[i - 1].dy);
      fastest = Math.max(fastest, fix.speed);
    });
    return { way, fastest };
  }
}

class RingTrack {
  constructor() {
    this.numbers = new Float64Array(LENGTH * 4);
    this.count = 0;
  }

  add({ second, x, y }) {
    const at = (this.count % LENGTH) * 4;
    const last = ((this.count + LENGTH - 1) % LENGTH) * 4;
    const speed = this.count ? Math.hypot(x - this.numbers[last + 1], y - this.numbers[last + 2]) / 10 : 0;
    this.numbers[at] = second;
    this.numbers[at + 1] = x;
    this.numbers[at + 2] = y;
    this.numbers[at + 3] = speed;
    this.count++;
  }

  summary() {
    let way = 0;
    let fastest = 0;
    const first = Math.max(0, this.count - LENGTH);
    for (let i = first; i < this.count; i++) {
      const at = (i % LENGTH) * 4;
      const before = ((i + LENGTH - 1) % LENGTH) * 4;
      if (i > first) way += Math.hypot(this.numbers[at + 1] - this.numbers[before + 1], this.numbers[at + 2] - this.numbers[before + 2]);
      fastest = Math.max(fastest, this.numbers[at + 3]);
    }
    return { way, fastest };
  }
}

class Station {
  constructor(areas) {
    this.areas = areas;
    this.tracks = new Map(Array.from({ length: @{fleet} }, (_, ship) => [ship, ANEW ? new ListTrack() : new RingTrack()]));
    this.where = new Map();
    this.calls = [];
    this.heard = 0;
    this.near = 0;
    this.xs = new Float64Array(@{fleet});
    this.ys = new Float64Array(@{fleet});
  }

  // How far off the next ship is.
  clearance({ ship, x, y }) {
    let least = Infinity;
    for (let other = 0; other < @{fleet}; other++) {
      const dx = this.xs[other] - x;
      const dy = this.ys[other] - y;
      const far = dx * dx + dy * dy;
      if (far < least && other !== ship) least = far;
    }
    return Math.sqrt(least);
  }

  // What the receiver says next.
  receive() {
    const ship = this.heard % @{fleet};
    const second = Math.floor(this.heard / @{fleet}) * 10;
    this.heard++;
    const turn = ship * 0.7 + second / 900;
    const far = @{reach} * (0.3 + 0.7 * Math.abs(Math.sin(second / 4000 + ship)));
    return { ship, second, x: far * Math.cos(turn), y: far * Math.sin(turn) };
  }

  take(message) {
    const track = this.tracks.get(message.ship);
    track.add(message);
    this.xs[message.ship] = message.x;
    this.ys[message.ship] = message.y;
    if (this.clearance(message) < 30) this.near++;
    let here = 'sea';
    for (const area of this.areas) if (Math.hypot(message.x - area.x, message.y - area.y) < 2500) here = area.name;
    const before = this.where.get(message.ship);
    this.where.set(message.ship, here);
    if (before && before !== here) {
      this.calls.push(`ship ${message.ship} ${before} to ${here} after ${Math.round(track.summary().way)} m`);
      if (this.calls.length > 100) this.calls.shift();
    }
  }
}

function readAreas(path) {
  return fs
    .readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => {
      const [name, x, y] = line.split(' ');
      return { name, x: Number(x), y: Number(y) };
    });
}

// How much of the sweeps' time lies in the others, which may lie over each other.
function overlap(sweeps, others) {
  const spans = others.map((one) => [one.startTime / 1000, (one.startTime + one.duration) / 1000]).sort((a, b) => a[0] - b[0]);
  let sum = 0;
  for (const [start, end] of sweeps) {
    let at = start;
    for (const [from, to] of spans) {
      sum += Math.max(0, Math.min(to, end) - Math.max(from, at));
      at = Math.max(at, Math.min(to, end));
    }
  }
  return sum;
}

async function main() {
  const collections = [];
  const sweeps = [];
  new PerformanceObserver((list) => collections.push(...list.getEntries())).observe({ entryTypes: ['gc'] });
  const station = new Station(readAreas('@{work}/areas.txt'));
  let units = 0;
  let busy = 0;
  const began = now();
  while (now() - began < @{seconds}) {
    const start = now();
    for (let i = 0; i < @{sweep} * 20; i++) station.take(station.receive());
    units++;
    sweeps.push([start, now()]);
    busy += now() - start;
    await pause(Math.max(0, began + units / @{rate} - now()));
  }
  await pause(0.02);
  console.error(`${station.tracks.size} ships, ${station.near} times near, last call: ${station.calls.at(-1)}`);
  fs.writeFileSync('@{report}', JSON.stringify({ units, seconds: busy, culprit: overlap(sweeps, collections) }));
}

main();
