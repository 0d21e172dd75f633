'use strict';
const fs = require('fs');

const LEVELS = { DEBUG: 10, INFO: 20, WARN: 30 };

class Journal {
  constructor(path, level) {
    this.fd = fs.openSync(path, 'a');
    this.threshold = LEVELS[level];
    this.spent = 0;
  }

  @{fnCamel}(level, text) {
    if (LEVELS[level] < this.threshold) return;
    const start = process.hrtime.bigint();
    fs.writeSync(this.fd, `${new Date().toISOString()} ${level.padEnd(5)} [planner] ${text()}\n`);
    this.spent += Number(process.hrtime.bigint() - start) / 1e9;
  }
}

function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

const THEATRES = @{theatres};
const chance = generator(@{seed});
const journal = new Journal('@{log}', '@{level}');
const kinds = ['hip', 'knee', 'valve', 'cataract', 'tonsil', 'hernia', 'bypass'];

function requests() {
  const list = [];
  for (let i = 0; i < @{surgeries}; i++) {
    list.push({
      id: 1000 + Math.floor(chance() * 9000),
      kind: kinds[Math.floor(chance() * kinds.length)],
      surgeon: Math.floor(chance() * 12),
      minutes: 20 + Math.floor(chance() * 160),
      urgency: chance(),
    });
  }
  return list.sort((a, b) => b.urgency - a.urgency);
}

// A theatre that runs late, a surgeon who is in two theatres at once, an urgent one that waits: all of it costs.
function cost(plan, list) {
  const clock = new Float64Array(THEATRES);
  const free = new Float64Array(12);
  let total = 0;
  for (let i = 0; i < list.length; i++) {
    const one = list[i];
    const at = Math.max(clock[plan[i]], free[one.surgeon]);
    total += one.urgency * at + (at - clock[plan[i]]);
    clock[plan[i]] = free[one.surgeon] = at + one.minutes;
  }
  for (const minutes of clock) total += Math.max(0, minutes - 540) * 4;
  return total;
}

function show(plan, list) {
  return list.map((one, i) => `${plan[i]}:${one.id}/${one.kind}/${one.minutes}`).join(' ');
}

function planDay(day) {
  const list = requests();
  const plan = list.map((_, i) => i % THEATRES);
  let best = cost(plan, list);
  for (let n = 0; n < @{swaps}; n++) {
    const i = Math.floor(chance() * list.length), j = Math.floor(chance() * list.length);
    [plan[i], plan[j]] = [plan[j], plan[i]];
    const now = cost(plan, list);
    journal.@{fnCamel}('DEBUG', () => `day ${day} swap ${i} with ${j}: ${best.toFixed(1)} -> ${now.toFixed(1)} plan ${show(plan, list)}`);
    if (now <= best) best = now;
    else [plan[i], plan[j]] = [plan[j], plan[i]];
  }
  for (let t = 0; t < THEATRES; t++) {
    journal.@{fnCamel}('INFO', () => `day ${day} theatre ${t}: ${list.filter((_, i) => plan[i] === t).map((one) => one.id).join(' ')}`);
  }
  return best;
}

async function main() {
  const clock = () => Number(process.hrtime.bigint()) / 1e9;
  const began = clock();
  let days = 0, busy = 0, sum = 0;
  while (clock() - began < @{seconds}) {
    const start = clock();
    sum += planDay(days);
    days++;
    busy += clock() - start;
    const rest = began + days / @{rate} - clock();
    if (rest > 0) await new Promise((done) => setTimeout(done, rest * 1000));
  }
  console.log(`mean cost ${(sum / days).toFixed(1)}`);
  fs.writeFileSync('@{report}', JSON.stringify({ units: days, seconds: busy, culprit: journal.spent }));
}

main();
