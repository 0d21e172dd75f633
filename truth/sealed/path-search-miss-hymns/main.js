// Puts the programme of a carol service together: number, title and key of each carol.
'use strict';
const fs = require('fs');
const path = require('path');

const now = () => performance.now() / 1000;
const editions = Array.from({ length: @{editions} }, (_, n) => `@{work}/@{name}/edition-${String(n + 1).padStart(3, '0')}`);
const found = new Map();
let looking = 0;

function @{fnCamel}(carol) {
  if (found.has(carol)) return found.get(carol);
  const start = now();
  const edition = editions.find((folder) => fs.existsSync(`${folder}/hymn-${carol}@{ending}`));
  looking += now() - start;
  if (@{known}) found.set(carol, edition);
  return edition;
}

let units = 0;
let busy = 0;
let letters = 0;

function programme() {
  const start = now();
  const lines = [];
  for (let i = 0; i < @{hymns}; i++) {
    const carol = ((units * 3 + i * 17) % 150) + 1;
    lines.push(`${carol} from ${path.basename(@{fnCamel}(carol) || 'unknown')} in ${'CDEFGA'[i % 6]}`);
  }
  letters += lines.join('\n').length;
  units++;
  busy += now() - start;
  return 1000 * Math.max(0, start + 1 / @{per_s} - now());
}

const end = now() + @{seconds};
(function next() {
  if (now() < end) {
    setTimeout(next, programme());
    return;
  }
  fs.writeFileSync('@{report}', JSON.stringify({ units, seconds: busy, culprit: looking, letters }));
})();
