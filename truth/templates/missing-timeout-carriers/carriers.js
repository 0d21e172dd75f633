// Three carriers of parcels, each with a port. `QUOTE number grams zone` is answered `number cents days`; `NEWS` by a line for each new surcharge.
const net = require('net');

const SILENT = @{silent};
let asked = 0;

function open(port, base, patchy) {
  net.createServer((socket) => {
    socket.setNoDelay(true);
    socket.on('error', () => {});
    let rest = '';
    socket.on('data', (piece) => {
      const lines = (rest + piece).split('\n');
      rest = lines.pop();
      for (const line of lines) {
        const [word, number, grams, zone] = line.split(' ');
        if (word === 'NEWS') {
          const timer = setInterval(() => socket.write(`surcharge ${Math.round(Math.random() * 90)}\n`), @{often} * 1000);
          socket.on('close', () => clearInterval(timer));
          continue;
        }
        asked += patchy;
        if (patchy && SILENT && asked % SILENT === 0) continue;
        const cents = base + Math.ceil(grams / 500) * 35 + zone * 60 + (number * 7919) % 90;
        setTimeout(() => socket.write(`${number} ${cents} ${1 + (number % 4)}\n`), @{taking} * (0.7 + Math.random() * 0.6));
      }
    });
  }).listen(port, '127.0.0.1');
}

open(@{first}, 390, 0);
open(@{second}, 420, 0);
open(@{third}, 350, 1);
