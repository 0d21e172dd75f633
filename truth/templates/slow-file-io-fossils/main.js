// Prints the labels of fossils: from each scan the size, the age by the colour of the stone, and the sample that it is most like.
const fs = require('fs/promises');
const path = require('path');
const crypto = require('crypto');

let culprit = 0;
const began = process.hrtime.bigint();
const since = () => Number(process.hrtime.bigint() - began) / 1e9;

async function @{fnCamel}(folder, number) {
  const start = since();
  const scan = await fs.readFile(path.join(folder, `scan-${String(number).padStart(5, '0')}`));
  culprit += since() - start;
  return scan;
}

// How often each brightness comes about.
function shades(scan) {
  const counts = new Array(16).fill(0);
  for (const byte of scan)
    counts[byte >> 4]++;
  return counts;
}

function likeness(one, other) {
  return one.reduce((sum, count, i) => sum - Math.abs(count - other[i]), 0);
}

function label(number, scan, samples) {
  const own = shades(scan);
  let best = 0;
  samples.forEach((sample, i) => {
    if (likeness(own, sample) > likeness(own, samples[best]))
      best = i;
  });
  const mark = crypto.createHash('sha1').update(scan).digest('hex').slice(0, 8);
  return `No. ${number}  ${(own[3] / 100).toFixed(1)} cm, ${60 + own[7] % 40} million years, like sample ${best}  [${mark}]`;
}

async function main() {
  const samples = [];
  for (let i = 0; i < @{samples}; i++)
    samples.push(shades(await @{fnCamel}('@{work}/@{first}/@{scans}', i)));
  culprit = 0;
  const labels = [];
  const opened = since();
  let units = 0, busy = 0, due = opened;
  while (since() - opened < @{seconds}) {
    const start = since();
    // The visitors' order is that of the rooms.
    const number = @{samples} + (units * 389) % (@{count} - @{samples});
    labels.push(label(number, await @{fnCamel}('@{work}/@{disk}/@{scans}', number), samples));
    units++;
    busy += since() - start;
    due += 1 / @{rate};
    await new Promise((go) => setTimeout(go, Math.max(0, (due - since()) * 1000)));
  }
  await fs.writeFile('@{work}/labels.txt', labels.join('\n'));
  await fs.writeFile('@{report}', JSON.stringify({ units, seconds: busy, culprit }));
}

main();
