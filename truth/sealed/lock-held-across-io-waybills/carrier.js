// The carrier: "BLOCK COUNT" is answered by the first of so many numbers that are the asker's from then on.
'use strict';
const net = require('net');
const readline = require('readline');

let next = 400100000;

net.createServer((shop) => {
    shop.setNoDelay(true);
    shop.on('error', () => {});
    readline.createInterface({ input: shop }).on('line', (line) => {
        const count = Number(line.split(' ')[1]);
        const first = next;
        next += count;
        setTimeout(() => shop.write(`FROM ${first}\n`), @{takes} * (0.85 + Math.random() * 0.3));
    });
}).listen(@{carrier}, '127.0.0.1');
