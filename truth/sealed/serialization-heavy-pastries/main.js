// The recipe book of a pastry shop: changes come in, costs are worked out, and each change can be undone.
const fs = require('fs');

const GOODS = ['flour', 'butter', 'sugar', 'eggs', 'almonds', 'cream', 'yeast', 'salt', 'vanilla', 'cocoa', 'milk', 'rum', 'honey', 'poppy', 'quark', 'plums'];

function makeBook() {
  const recipes = {};
  for (let i = 0; i < @{recipes}; i++) {
    recipes[`cake-${i}`] = {
      title: `Cake number ${i}`,
      oven: { degrees: 150 + i % 70, minutes: 20 + i % 45, steam: i % 3 === 0 },
      ingredients: Array.from({ length: @{ingredients} }, (_, k) => ({ name: GOODS[(i + k) % GOODS.length], grams: 10 + (i * 37 + k * 11) % 490, price: ((i + k) % 90) / 100 })),
      steps: ['weigh', 'mix', 'rest', 'shape', 'bake', 'cool'].map((name, k) => ({ name, minutes: 3 + (i + k) % 30 })),
    };
  }
  return { season: 'autumn', recipes };
}

let culprit = 0;

// What is to be had back by "undo".
function @{fnCamel}(book, id, change) {
  if ((change + 1) % @{whole} !== 0) {
    const recipe = book.recipes[id];
    return { [id]: { ...recipe, oven: { ...recipe.oven }, ingredients: recipe.ingredients.map((part) => ({ ...part })) } };
  }
  const start = process.hrtime.bigint();
  const copy = JSON.parse(JSON.stringify(book));
  culprit += Number(process.hrtime.bigint() - start) / 1e9;
  return copy.recipes;
}

function apply(book, id, change) {
  const part = book.recipes[id].ingredients[change % @{ingredients}];
  part.grams = Math.max(5, part.grams + (change * 13) % 41 - 20);
}

// What the cakes cost, and how long the oven is taken.
function costs(book) {
  let total = 0, oven = 0;
  for (const recipe of Object.values(book.recipes)) {
    for (const part of recipe.ingredients)
      total += part.grams * part.price / 1000;
    oven += recipe.oven.minutes;
  }
  return { total: Math.round(total * 100) / 100, oven };
}

async function main() {
  const book = makeBook();
  const undo = [];
  const began = process.hrtime.bigint();
  const since = () => Number(process.hrtime.bigint() - began) / 1e9;
  let units = 0, busy = 0, due = 0, last;
  while (since() < @{seconds}) {
    const start = since();
    const id = `cake-${(units * 7919) % @{recipes}}`;
    undo.push(@{fnCamel}(book, id, units));
    if (undo.length > @{kept})
      undo.shift();
    apply(book, id, units);
    if (units % 29 === 11)
      Object.assign(book.recipes, undo.pop());
    last = costs(book);
    units++;
    busy += since() - start;
    due += 1 / @{rate};
    await new Promise((go) => setTimeout(go, Math.max(0, (due - since()) * 1000)));
  }
  console.log(last);
  fs.writeFileSync('@{report}', JSON.stringify({ units, seconds: busy, culprit }));
}

main();
