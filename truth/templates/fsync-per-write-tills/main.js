// The server of the tills: a receipt is priced and booked.
'use strict';
const net = require('net');
const readline = require('readline');

class Booking {
    constructor() {
        this.socket = net.connect(@{booking}, '127.0.0.1');
        this.socket.setNoDelay(true);
        this.waiting = [];
        this.inbox = Buffer.alloc(0);
        this.socket.on('error', () => {});
        this.socket.on('data', (data) => {
            this.inbox = Buffer.concat([this.inbox, data]);
            while (this.inbox.length >= 8) {
                this.waiting.shift()(this.inbox.readUInt32BE(4));
                this.inbox = this.inbox.subarray(8);
            }
        });
    }

    book(number, cents) {
        const frame = Buffer.alloc(8);
        frame.writeUInt32BE(number, 0);
        frame.writeUInt32BE(cents, 4);
        this.socket.write(frame);
        return new Promise((done) => this.waiting.push(done));
    }
}

function gross(number) {
    let cents = 0;
    for (let i = 0; i < 40; i++) cents += (number * 7919 + i * 104729) % 2999;
    return cents;
}

net.createServer((till) => {
    const booking = new Booking();
    till.setNoDelay(true);
    till.on('error', () => {});
    till.on('close', () => booking.socket.destroy());
    readline.createInterface({ input: till }).on('line', async (line) => {
        const number = parseInt(line.split(' ')[1], 10) || 0;
        till.write(`booked ${await booking.book(number, gross(number))}\n`);
    });
}).listen(@{port}, '127.0.0.1', 64);
