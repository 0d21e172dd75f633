// Exports the readings of each station, one page after the other, into the file that the statisticians fetch.
const fs = require("fs");

const clock = () => Number(process.hrtime.bigint()) / 1e9;
const pause = (seconds) => new Promise((done) => setTimeout(done, seconds * 1000));
const LIMIT = 48e6;

class Export {
  constructor(path) {
    this.file = fs.openSync(path, "w");
    this.at = 0;
    this.spent = 0;
  }

  @{fnCamel}(page) {
    const start = clock();
    for (let done = 0; done < page.length; ) {
      done += fs.writeSync(this.file, page, done, Math.min(page.length - done, 1 << 18), this.at + done);
    }
    this.at = this.at + page.length > LIMIT ? 0 : this.at + page.length;
    this.spent += clock() - start;
  }
}

function readings(number) {
  let lines = "";
  for (let i = 0; i < @{rounds} * 100; i++) lines += `${number};${i};${Math.sin(number + i).toFixed(6)}\n`;
  const page = Buffer.alloc(@{kb} * 1000, lines);
  page.writeUInt32LE(number, 0);
  return page;
}

async function main() {
  const out = new Export("@{work}/@{volume}/@{export}");
  const began = clock();
  let due = began, units = 0, busy = 0;
  while (clock() - began < @{seconds}) {
    const start = clock();
    out.@{fnCamel}(readings(units));
    busy += clock() - start;
    units++;
    due = Math.max(due + 1 / @{per_s}, clock());
    await pause(due - clock());
  }
  fs.writeFileSync("@{report}", JSON.stringify({ units, seconds: busy, culprit: out.spent }));
}

main();
