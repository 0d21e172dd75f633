// Planner of journeys by bus: how far one gets from a stop, and when.
const net = require("net");

const STOPS = @{stops};
const WIDTH = 300;
const REACH = @{reach};
const KINDS = ["Mill", "Church", "School", "Station", "Bridge"];

const stops = Array.from({ length: STOPS }, (_, number) => ({ number, name: `${KINDS[number % 5]} ${Math.floor(number / 5)}`, rides: [] }));
for (const stop of stops) {
  stop.rides = [1, STOPS - 1, WIDTH, STOPS - WIDTH].map((step, k) => ({ to: stops[(stop.number + step) % STOPS], minutes: 2 + (stop.number * 7919 + k * 104729) % 11 }));
}

class Queue {
  constructor(before) {
    this.before = before;
    this.all = [];
    this.size = 0;
  }

  push(one) {
    let i = this.size++;
    for (; i > 0; ) {
      const up = (i - 1) >> 1;
      if (!this.before(one, this.all[up])) break;
      this.all[i] = this.all[up];
      i = up;
    }
    this.all[i] = one;
  }

  pop() {
    const top = this.all[0];
    const moved = this.all[--this.size];
    let i = 0;
    for (let child = 1; child < this.size; child = 2 * i + 1) {
      if (child + 1 < this.size && this.before(this.all[child + 1], this.all[child])) child++;
      if (!this.before(this.all[child], moved)) break;
      this.all[i] = this.all[child];
      i = child;
    }
    this.all[i] = moved;
    return top;
  }
}

function @{fnCamel}(start) {
  const best = new Map();
  const waiting = new Queue((one, other) => one.minutes < other.minutes);
  let last = { at: stops[start], from: null, minutes: 0, history: null };
  best.set(last.at, last);
  waiting.push(last);
  for (let settled = 0; settled < REACH && waiting.size > 0; ) {
    const one = waiting.pop();
    if (best.get(one.at) !== one) continue;
    settled++;
    last = one;
    for (const { to, minutes } of one.at.rides) {
      const then = one.minutes + minutes;
      const known = best.get(to);
      if (known && known.minutes <= then) continue;
      const next = { at: to, from: one, minutes: then, history: { ride: minutes, stop: one.at } };
      best.set(to, next);
      waiting.push(next);
    }
  }
  let rides = 0;
  for (let one = last; one.from; one = one.from) rides++;
  return [last.minutes, rides];
}

// Keeps what it notes for the next search.
class Table {
  minutes = new Int32Array(STOPS);
  from = new Int32Array(STOPS);
  round = new Uint32Array(STOPS);
  done = new Uint8Array(STOPS);
  waiting = new Queue((one, other) => one < other);
  now = 0;

  note(number, from, then) {
    if (this.round[number] === this.now && this.minutes[number] <= then) return;
    this.round[number] = this.now;
    this.minutes[number] = then;
    this.from[number] = from;
    this.done[number] = 0;
    this.waiting.push(then * 262144 + number);
  }

  search(start) {
    this.now++;
    this.waiting.size = 0;
    this.note(start, -1, 0);
    let last = start;
    for (let settled = 0; settled < REACH && this.waiting.size > 0; ) {
      const number = this.waiting.pop() % 262144;
      if (this.done[number]) continue;
      this.done[number] = 1;
      settled++;
      last = number;
      const { rides } = stops[number];
      for (let i = 0; i < rides.length; i++) this.note(rides[i].to.number, number, this.minutes[number] + rides[i].minutes);
    }
    let rides = 0;
    for (let one = this.from[last]; one >= 0; one = this.from[one]) rides++;
    return [this.minutes[last], rides];
  }
}

const table = "@{labels}" === "table" ? new Table() : null;

net.createServer({ noDelay: true }, (passenger) => {
  let text = "";
  passenger.on("error", () => passenger.destroy());
  passenger.on("data", (piece) => {
    const lines = (text + piece).split("\n");
    text = lines.pop();
    for (const line of lines) {
      const start = (Number(line.slice(5)) * 7919) % STOPS;
      const [minutes, rides] = table ? table.search(start) : @{fnCamel}(start);
      passenger.write(`${stops[start].name}: ${REACH} stops, ${minutes} minutes, ${rides} rides\n`);
    }
  });
}).listen(@{port}, "127.0.0.1");
