'use strict';
// Keeps the protocol of a gymnastics meeting: marks come from tablets of the judges.
const http = require('http');

const all = [];
const latest = [];

function write(gymnast) {
  const total = gymnast.marks.reduce((sum, mark) => sum + mark, 0);
  gymnast.row = Buffer.from(`${gymnast.number};${gymnast.marks.join(' ')};${total};${gymnast.notes}\n`);
}

for (let number = 0; number < @{gymnasts}; number++) {
  let notes = '';
  for (let i = 0; notes.length < @{notes}; i++) notes += `element ${number % 17}.${i} minus ${(number + i * 31) % 9},`;
  const gymnast = { number, marks: [0, 0, 0, 0, 0, 0], notes: notes.slice(0, @{notes}), row: null };
  write(gymnast);
  all.push(gymnast);
}

function mark(number, apparatus, points) {
  const gymnast = all[number % all.length];
  gymnast.marks[apparatus % 6] = points;
  write(gymnast);
  latest.push(gymnast);
}

function @{fnCamel}(answer, rows) {
  const text = Buffer.concat(rows.map((gymnast) => gymnast.row));
  answer.writeHead(200, { 'Content-Type': 'text/csv', 'Content-Length': text.length, 'X-Version': latest.length });
  answer.end(text);
}

const server = http.createServer((ask, answer) => {
  const url = new URL(ask.url, 'http://hall');
  const number = (name) => Number(url.searchParams.get(name));
  switch (url.pathname) {
    case '/version':
      return @{fnCamel}(answer, []);
    case '/protocol.csv':
      return @{fnCamel}(answer, all);
    case '/marks':
      mark(number('gymnast'), number('apparatus'), number('mark'));
      return @{fnCamel}(answer, @{whole} ? all : latest.slice(number('seen')));
    default:
      return answer.writeHead(404).end();
  }
});
server.listen(@{port}, '127.0.0.1');
