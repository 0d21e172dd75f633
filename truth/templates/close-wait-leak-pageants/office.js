// The tally office: tells a juror's mark for an act. After some questions it hangs up, so that no board sits on a line for ever.
'use strict';
const net = require('node:net');
const readline = require('node:readline');

net.createServer({ noDelay: true, allowHalfOpen: true }, line => {
  let asked = 0;
  line.on('error', () => line.destroy());
  line.on('end', () => line.end());
  readline.createInterface({ input: line }).on('line', text => {
    const [, juror, act] = text.split(' ').map(Number);
    const last = ++asked >= @{per_line};
    line.write(`${(juror * 7 + act * 13) % 10 + 1} ${last ? 'bye' : 'more'}\n`);
    if (last) line.end();
  });
}).listen(@{port}, '127.0.0.1');
