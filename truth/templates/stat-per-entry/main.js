'use strict';
// Keeps each tenant's folder within its quota: the gallery shows how many pictures there are.
const fs = require('fs');
const path = require('path');

const base = '@{work}/@{base}';
let culprit = 0;
let busy = 0;
let units = 0;

const now = () => Number(process.hrtime.bigint()) / 1e9;

function @{fnCamel}(folder) {
  if (!@{each}) {
    const names = fs.readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => entry.name);
    if (@{aged}) {
      for (let i = 0; i < names.length; i += @{aged}) {
        if (fs.statSync(path.join(folder, names[i])).mtimeMs > Date.now() + 3600e3) throw new Error('from the future');
      }
    }
    return names;
  }
  const names = fs.readdirSync(folder);
  const asked = now();
  const found = names.filter((name) => fs.statSync(folder + '/' + name).isFile());
  culprit += now() - asked;
  return found;
}

function rotate(folder, names, n) {
  let sum = 0;
  for (let i = 0; i < @{extra} * 1500; i++) sum = (sum * 31 + i) | 0;
  fs.renameSync(path.join(folder, names[0]), path.join(folder, `@{stem}-n${n}-${sum & 7}.msg`));
}

const began = now();

function tick() {
  const start = now();
  const folder = path.join(base, 'tenant' + (units % @{tenants}));
  rotate(folder, @{fnCamel}(folder), units);
  units++;
  busy += now() - start;
  if (now() - began >= @{seconds}) {
    fs.writeFileSync('@{report}', JSON.stringify({ units, seconds: busy, culprit }));
    return;
  }
  const rest = began + units / @{rate} - now();
  if (rest > 0.001) setTimeout(tick, rest * 1000);
  else setImmediate(tick);
}

tick();
