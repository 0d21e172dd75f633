// Statements of accounts for the bank's app: the closed months, and what came since.
const http = require('http');
const zlib = require('zlib');

const SHOPS = ['Bakery Huber', 'City Transport', 'Rent Lindenweg 4', 'Salary', 'Water works', 'Green Grocer', 'Cinema Rex', 'Book corner', 'Pharmacy am Tor'];
const LEVEL = { level: 9 };
const ROUNDS = @{rounds} * 20;

// The same amounts at each start: there is no ledger behind this one yet.
function draws(seed) {
  let state = seed * 2654435761 % 4294967296;
  return (most) => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return Math.floor(state / 4294967296 * most);
  };
}

function movements(number, many) {
  const draw = draws(number + 1);
  const list = [];
  for (let i = 0; i < many; i++) {
    const cents = draw(9) === 0 ? 180000 + draw(90000) : -draw(12000);
    list.push({ day: 20000 + Math.floor(i / 3), shop: SHOPS[draw(SHOPS.length)], cents, mark: draw(1e9).toString(36) });
  }
  return list;
}

function line(movement, balance) {
  const amount = (movement.cents / 100).toFixed(2).padStart(12);
  return `${movement.day};${movement.shop.padEnd(24)};${amount} EUR;${(balance / 100).toFixed(2).padStart(14)} EUR;ref ${movement.mark}\n`;
}

class Account {
  constructor(number) {
    this.number = number;
    this.moves = movements(number, @{rows});
    let balance = 0;
    const lines = this.moves.map((move) => line(move, balance += move.cents));
    this.closed = lines.slice(0, -@{fresh}).join('');
    this.packed = @{kept} ? zlib.gzipSync(this.closed, LEVEL) : null;
    this.open = this.moves.slice(-@{fresh});
  }

  // Interest by the day, as the law has it: of each balance that there was.
  interest() {
    let sum = 0;
    for (let round = 0; round < ROUNDS; round++) {
      let balance = 0;
      for (const move of this.moves) {
        balance += move.cents;
        sum += balance > 0 ? balance * (0.01 + round * 0.00002) / 365 : balance * 0.119 / 365;
      }
    }
    return Math.round(sum / ROUNDS);
  }

  head() {
    const interest = this.interest();
    let text = `Account ${this.number}\nInterest ${(interest / 100).toFixed(2)} EUR\n`;
    let balance = interest;
    for (const move of this.open) text += line(move, balance += move.cents);
    return text;
  }
}

function @{fnCamel}(account, head) {
  return zlib.gzipSync(head + account.closed, LEVEL);
}

// One after the other, packed parts are a packed whole.
function joined(account, head) {
  return Buffer.concat([zlib.gzipSync(head, { level: 1 }), account.packed]);
}

const accounts = Array.from({ length: @{accounts} }, (_, number) => new Account(number));
const counts = { answered: 0, bytes: 0, archived: 0 };

if (@{archive} > 0) {
  setInterval(() => {
    const account = accounts[counts.archived++ % accounts.length];
    counts.bytes += @{fnCamel}(account, account.head()).length;
  }, @{archive} * 1000);
}

http.createServer((request, response) => {
  const number = Number(request.url.split('/').pop());
  if (!Number.isInteger(number)) {
    response.writeHead(404).end();
    return;
  }
  const account = accounts[number % accounts.length];
  const head = account.head();
  const body = @{kept} ? joined(account, head) : @{fnCamel}(account, head);
  counts.answered++;
  counts.bytes += body.length;
  response.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Encoding': 'gzip', 'Content-Length': body.length });
  response.end(body);
}).listen(@{port}, '127.0.0.1');

