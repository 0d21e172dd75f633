// A car pool's server. "seat N" tells rider N who drives them today; the pairs are improved as riders come and go.
const net = require('net');
const { Worker, isMainThread, parentPort } = require('worker_threads');

const RIDERS = @{riders};

class Pool {
  constructor() {
    this.homes = Array.from({ length: RIDERS }, (_, n) => this.homeOf(n));
    this.drivers = Array.from({ length: RIDERS }, (_, n) => this.homeOf(n + 5000));
    this.pairs = Array.from({ length: RIDERS }, (_, n) => n);
    this.asked = 0;
  }

  homeOf(n) {
    return { x: (n * 7919) % 1000, y: (n * 104729) % 1000 };
  }

  join(number) {
    this.asked++;
    this.homes[number % RIDERS] = this.homeOf(number);
    const driver = this.pairs[number % RIDERS];
    const minutes = 400 + ((number * 13) % 90);
    return `driver ${driver} at ${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}`;
  }
}

function detour(home, driver) {
  return Math.hypot(home.x - driver.x, home.y - driver.y) + Math.hypot(driver.x - 500, driver.y - 500);
}

// Swaps the drivers of two riders where that is shorter for both together.
function @{fnCamel}({ homes, drivers, pairs }) {
  const better = pairs.slice();
  const end = performance.now() + @{spend};
  for (let a = 0; performance.now() < end; a = (a + 1) % homes.length) {
    for (let b = 0; b < homes.length; b++) {
      const now = detour(homes[a], drivers[better[a]]) + detour(homes[b], drivers[better[b]]);
      const then = detour(homes[a], drivers[better[b]]) + detour(homes[b], drivers[better[a]]);
      if (then < now - 1e-9) [better[a], better[b]] = [better[b], better[a]];
    }
  }
  return better;
}

function serve(pool, rider) {
  let text = '';
  rider.setNoDelay(true);
  rider.on('error', (error) => console.error(error.message));
  rider.on('data', (data) => {
    const lines = (text + data).split('\n');
    text = lines.pop();
    for (const line of lines) {
      const [word, number] = line.split(' ');
      rider.write(word === 'seat' ? `${pool.join(Number(number))}\n` : 'what?\n');
    }
  });
}

function main() {
  const pool = new Pool();
  const aside = @{aside} ? new Worker(__filename) : null;
  if (aside) aside.on('message', (pairs) => { pool.pairs = pairs; });
  setInterval(() => {
    const { homes, drivers, pairs } = pool;
    if (aside) aside.postMessage({ homes, drivers, pairs });
    else pool.pairs = @{fnCamel}(pool);
  }, @{every});
  net.createServer((rider) => serve(pool, rider)).listen(@{port}, '127.0.0.1');
}

if (isMainThread) main();
else parentPort.on('message', (pool) => parentPort.postMessage(@{fnCamel}(pool)));
