// Sorts the parcels that came in with a lorry onto lanes. A lane or a parcel may have a note of the staff: then it goes to the desk.
const fs = require("fs");
const path = require("path");

const clock = () => Number(process.hrtime.bigint()) / 1e9;
const NOTES = "@{work}/@{notes}";

class Notes {
  constructor() {
    this.known = new Map();
    this.scans = Date.now() * 1000;
    this.spent = 0;
  }

  @{fnCamel}(name) {
    return fs.existsSync(NOTES + "/" + name + ".note");
  }

  about(parcel) {
    if ("@{named}" === "scan") return this.@{fnCamel}(`${parcel.depot}-${this.scans++}`);
    const name = `lane-${parcel.lane}`;
    if (!this.known.has(name)) this.known.set(name, this.@{fnCamel}(name));
    return this.known.get(name);
  }
}

function* unload(lorry) {
  let state = lorry * 7919 + 17;
  for (let i = 0; i < @{parcels}; i++) {
    state = (state * 48271) % 2147483647;
    yield { depot: state % 90, lane: state % 41, grams: state % 30000 };
  }
}

function sort(lorry, notes, lanes) {
  const parcels = [...unload(lorry)];
  const start = clock();
  const held = parcels.map((parcel) => notes.about(parcel));
  notes.spent += clock() - start;
  parcels.forEach((parcel, i) => {
    if (!held[i]) lanes[parcel.lane] = (lanes[parcel.lane] || 0) + parcel.grams;
  });
}

async function main() {
  const notes = new Notes(), lanes = {};
  for (let i = 0; i < @{crawl}; i++) notes.@{fnCamel}(`late-${i}`);
  const began = clock();
  let units = 0, busy = 0, due = began;
  while (clock() - began < @{seconds}) {
    const start = clock();
    sort(units, notes, lanes);
    busy += clock() - start;
    units++;
    due = Math.max(due + 1 / @{rate}, clock());
    await new Promise((done) => setTimeout(done, (due - clock()) * 1000));
  }
  fs.writeFileSync(path.resolve("@{report}"), JSON.stringify({ units, seconds: busy, culprit: notes.spent }));
}

main();
