// The counting hall: keeps each ballot that the scanners have read, in the file of its box, and counts the votes of the lists.
const fs = require('fs');
const readline = require('readline');
const { promisify } = require('util');

const write = promisify(fs.write);
const datasync = promisify(fs.fdatasync);
const clock = () => performance.now() / 1000;
let settling = 0;

class Box {
  constructor(number) {
    this.fd = fs.openSync(`@{work}/@{boxes}/box-${number}.votes`, 'a');
    this.since = 0;
    this.last = 0;
  }

  async @{fnCamel}(ballot) {
    this.last += 1;
    await write(this.fd, `${String(this.last).padStart(8, '0')};${ballot};${'.'.repeat(@{remark})}\n`);
    this.since += 1;
    if (this.since === @{every}) await this.settle();
  }

  async settle() {
    if (this.since === 0) return;
    const start = clock();
    await datasync(this.fd);
    settling += clock() - start;
    this.since = 0;
  }
}

async function main() {
  const boxes = Array.from({ length: @{count} }, (_, number) => new Box(number));
  const votes = new Map();
  const begin = clock();
  let settled = begin;
  let units = 0;
  let busy = 0;
  let head = null;
  let ballots = [];
  const lines = readline.createInterface({ input: fs.createReadStream('@{work}/@{tray}') });
  for await (const line of lines) {
    if (head === null) {
      head = line.split(' ').map(Number);
      continue;
    }
    ballots.push(line);
    if (ballots.length < head[1]) continue;
    const start = clock();
    for (const ballot of ballots) {
      await boxes[head[0]].@{fnCamel}(ballot);
      const list = ballot.split(';')[0];
      votes.set(list, (votes.get(list) ?? 0) + 1);
    }
    if (@{every} === 0 && clock() - settled > @{period}) {
      for (const box of boxes) await box.settle();
      settled = clock();
    }
    busy += clock() - start;
    units += 1;
    head = null;
    ballots = [];
    if (clock() - begin >= @{seconds}) break;
  }
  if (@{every} === 0) for (const box of boxes) await box.settle();
  fs.writeFileSync('@{report}', JSON.stringify({ units, seconds: busy, culprit: settling }));
  process.exit(0);
}

main();
