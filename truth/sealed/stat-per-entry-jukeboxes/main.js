// A jukebox: what is on a shelf, and what to play next.
const crypto = require("crypto");
const fs = require("fs");
const path = require("path");

let culprit = 0;

function @{fnCamel}(folder, names, found) {
  for (const name of names) {
    const state = fs.lstatSync(path.join(folder, name), { throwIfNoEntry: false });
    if (!state) continue;
    if (state.isDirectory()) found.albums++;
    else found.tracks++;
    if ("@{look}" === "newest" && state.mtimeMs > found.newest) found.newest = state.mtimeMs;
  }
}

function visit(n) {
  const found = { albums: 0, tracks: 0, newest: 0, next: "" };
  const folder = path.join("@{work}", "@{collection}", `shelf${n % @{shelves}}`);
  let names;
  if ("@{look}" === "listing") {
    const entries = fs.readdirSync(folder, { withFileTypes: true });
    for (const entry of entries) found[entry.isDirectory() ? "albums" : "tracks"]++;
    names = entries.map((entry) => entry.name);
  } else {
    names = fs.readdirSync(folder);
    const from = performance.now();
    @{fnCamel}(folder, names, found);
    if ("@{look}" === "each") culprit += performance.now() - from;
  }
  let best = "";
  for (const name of names.slice(0, 60)) {
    const key = crypto.createHash("sha1").update(n + name).digest("hex");
    if (key > best) [best, found.next] = [key, name];
  }
  return found;
}

async function main() {
  let units = 0, busy = 0, albums = 0, tracks = 0;
  const began = performance.now();
  while (performance.now() - began < @{seconds} * 1000) {
    const start = performance.now();
    const found = visit(units);
    albums += found.albums;
    tracks += found.tracks;
    units++;
    busy += performance.now() - start;
    await new Promise((next) => setTimeout(next, Math.max(0, began + (units * 1000) / @{rate} - performance.now())));
  }
  console.log(albums, "albums", tracks, "tracks");
  fs.writeFileSync("@{report}", JSON.stringify({ units, seconds: busy / 1000, culprit: culprit / 1000 }));
}

main();
