// The register of lost art: "SEEN lot mark" is answered by "CLEAR score" or "LISTED score".
'use strict';
const net = require('net');
const readline = require('readline');

net.createServer((caller) => {
    caller.setNoDelay(true);
    caller.on('error', () => {});
    readline.createInterface({ input: caller }).on('line', (line) => {
        const [, lot, mark] = line.split(' ');
        const score = (Number(lot) * 7919 + Number(mark)) % 1000;
        setTimeout(() => caller.write(`${score > 970 ? 'LISTED' : 'CLEAR'} ${score}\n`), @{delay} * (0.8 + Math.random() * 0.4));
    });
}).listen(@{register}, '127.0.0.1');
