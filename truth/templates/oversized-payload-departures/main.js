// Tells the boards of a ferry company's piers what sails next.
'use strict';
const http = require('http');

const [PIERS, SAILINGS, WHOLE] = [@{stops}, @{runs}, @{whole}];
const begins = [];
const lines = [];
let length = 0;
for (let pier = 0; pier < PIERS; pier++) {
  begins.push(length);
  for (let run = 0; run < SAILINGS; run++) {
    const at = 300 + Math.floor((run * 1140) / SAILINGS);
    const time = `${String(Math.floor(at / 60)).padStart(2, '0')}:${String(at % 60).padStart(2, '0')}`;
    const line = `${pier} ${time} ferry ${1 + (run % 9)} to ${['Old Town', 'Island', 'Airport'][run % 3]}\n`;
    lines.push(line);
    length += line.length;
  }
}
begins.push(length);
const timetable = Buffer.from(lines.join(''));
let asked = 0;

function @{fnCamel}(pier, answer) {
  asked++;
  let text = timetable;
  if (WHOLE === 0 || asked % WHOLE !== 0) {
    const own = timetable.subarray(begins[pier], begins[pier + 1]);
    let end = 0;
    for (let line = 0; line < 8; line++) end = own.indexOf(10, end) + 1;
    text = own.subarray(0, end);
  }
  answer.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Length': text.length });
  answer.end(text);
}

http.createServer((request, answer) => {
  const board = Number(request.url.split('/')[2]);
  if (Number.isInteger(board)) {
    @{fnCamel}(board % PIERS, answer);
  } else {
    answer.writeHead(404).end();
  }
}).listen(@{port}, '127.0.0.1');
