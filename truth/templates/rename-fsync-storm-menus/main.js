// Publishes the menus of school canteens; the app of the parents fetches the files.
'use strict';
const crypto = require('crypto');
const fs = require('fs/promises');
const path = require('path');

const SHELF = '@{work}/@{shelf}';
const WAYS = ['baked', 'boiled', 'fried', 'grilled', 'steamed'];
const THINGS = ['carrots', 'dumplings', 'lentils', 'noodles', 'peppers', 'potatoes', 'salmon'];
const now = () => Number(process.hrtime.bigint()) / 1e9;
const pause = seconds => new Promise(done => setTimeout(done, seconds * 1000));

let spent = 0;
let saved = 0;

// A reader finds either what was there before or all of the new.
async function @{fnCamel}(name, content) {
  const start = now();
  const target = path.join(SHELF, name);
  const file = await fs.open(target + '.new', 'w');
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await fs.rename(target + '.new', target);
  spent += now() - start;
}

function menuOf(number) {
  const dishes = [];
  for (let i = 0; i < @{dishes}; i++) {
    const name = `${WAYS[(number + i) % WAYS.length]} ${THINGS[(number * 3 + i) % THINGS.length]}`;
    dishes.push({ number: i, name, cents: 290 + (number * 7 + i * 35) % 600 });
  }
  return { school: number % 40, dishes };
}

function describe(dish) {
  dish.text = Array(@{words}).fill(dish.name).join(' ');
  dish.mark = dish.name;
  for (let i = 0; i < @{effort}; i++) {
    dish.mark = crypto.createHash('sha256').update(dish.mark).digest('hex');
  }
}

async function publish(menu) {
  menu.dishes.forEach(describe);
  if ('@{by}' === 'dish') {
    for (const dish of menu.dishes) {
      await @{fnCamel}(`school-${menu.school}-${dish.number}@{ending}`, JSON.stringify(dish));
    }
    return;
  }
  const content = menu.dishes.map(dish => JSON.stringify(dish)).join('\n');
  if ('@{by}' === 'menu') {
    await @{fnCamel}(`school-${menu.school}.menu`, content);
    return;
  }
  await fs.writeFile(path.join(SHELF, `school-${menu.school}.menu`), content);
  if (now() - saved > @{period}) {
    saved = now();
    await @{fnCamel}('last-school', String(menu.school));
  }
}

async function main() {
  let units = 0, busy = 0, due = now();
  const end = now() + @{seconds};
  while (now() < end) {
    due = Math.max(due + 1 / @{rate}, now());
    await pause(due - now());
    const start = now();
    await publish(menuOf(units));
    busy += now() - start;
    units++;
    if (units % 50 === 0) console.log(`${units} menus are out`);
  }
  await fs.writeFile('@{report}', JSON.stringify({ units, seconds: busy, culprit: spent }));
}

main().catch(error => {
  console.error(error);
  process.exit(1);
});
