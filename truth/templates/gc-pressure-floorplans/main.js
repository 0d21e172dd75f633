// An editor of floor plans: draughtsmen move walls, doors and furniture, and may undo what they did.
const fs = require('fs');
const { PerformanceObserver } = require('perf_hooks');

const now = () => performance.now() / 1000;
const pause = (seconds) => new Promise((done) => setTimeout(done, Math.max(0, seconds * 1000)));

class Point {
  constructor(x, y) {
    this.x = x;
    this.y = y;
  }
}

class Thing {
  constructor(id, label, at, wide) {
    this.id = id;
    this.label = label;
    this.at = at;
    this.wide = wide;
  }
}

class Plan {
  constructor() {
    this.things = Array.from({ length: @{size} }, (_, i) =>
      new Thing(i, `thing ${i} of room ${Math.floor(i / 9)}`, new Point((i * 37) % 900, (i * 53) % 700), 5 + (i % 60)));
    this.steps = [];
  }

  @{fnCamel}() {
    return this.things.map(({ id, label, at, wide }) => new Thing(id, label, new Point(at.x, at.y), wide));
  }

  move(number, x, y) {
    const { at } = this.things[number];
    this.steps.push('@{way}' === 'whole' ? this.@{fnCamel}() : { number, ...at });
    if (this.steps.length > @{steps}) this.steps.shift();
    at.x = x;
    at.y = y;
  }

  undo() {
    const step = this.steps.pop();
    if ('@{way}' === 'whole') this.things = step;
    else this.things[step.number].at = new Point(step.x, step.y);
  }

  // How many things lie in the way of one.
  collisions(number) {
    const moved = this.things[number];
    let count = 0;
    for (const thing of this.things) {
      if (thing !== moved && Math.abs(thing.at.x - moved.at.x) < thing.wide && Math.abs(thing.at.y - moved.at.y) < thing.wide) count++;
    }
    return count;
  }
}

async function main() {
  let collected = 0;
  new PerformanceObserver((list) => list.getEntries().forEach((one) => (collected += one.duration / 1000))).observe({ entryTypes: ['gc'] });
  const plan = new Plan();
  let units = 0;
  let busy = 0;
  let blocked = 0;
  const began = now();
  while (now() - began < @{seconds}) {
    const start = now();
    for (let i = 0; i < 60; i++) {
      const number = ((units * 60 + i) * 7) % @{size};
      plan.move(number, (units + i * 91) % 900, (units * 3 + i * 17) % 700);
      if (plan.collisions(number) > 12) {
        plan.undo();
        blocked++;
      }
    }
    units++;
    busy += now() - start;
    await pause(began + units / @{rate} - now());
  }
  await pause(0.02);
  console.error(`${blocked} moves were blocked`);
  fs.writeFileSync('@{report}', JSON.stringify({ units, seconds: busy, culprit: Math.min(busy, collected) }));
}

main();
