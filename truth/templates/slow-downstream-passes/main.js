// The turnstiles of a ski lift: may the bearer of this pass ride?
'use strict';
const crypto = require('crypto');
const fs = require('fs');
const http = require('http');
const net = require('net');
const readline = require('readline');

const OFFICE = '@{work}/@{sock}';
const journal = fs.createWriteStream('@{work}/gates.log');

class Desk {
    constructor() {
        this.line = net.connect(OFFICE);
        this.waiting = [];
        this.line.on('error', (error) => this.gone(error));
        readline.createInterface({ input: this.line }).on('line', (text) => this.waiting.shift().done(text.split(' ')));
    }

    gone(error) {
        for (const { failed } of this.waiting.splice(0)) failed(error);
    }

    ask(question) {
        return new Promise((done, failed) => {
            this.waiting.push({ done, failed });
            this.line.write(`${question}\n`);
        });
    }
}

class Office {
    constructor() {
        this.free = [];
    }

    async @{fnCamel}(pass) {
        const desk = this.free.pop() || new Desk();
        const late = setTimeout(() => desk.line.destroy(new Error('the office takes too long')), 8000);
        try {
            const [word, , rides] = await desk.ask(`PUNCH ${pass}`);
            if (word !== 'OK') throw new Error(`the office says ${word}`);
            this.free.push(desk);
            return Number(rides);
        } finally {
            clearTimeout(late);
        }
    }

    async listen(revoked) {
        const desk = new Desk();
        while (true) {
            const [, pass] = await desk.ask('NEWS');
            revoked.add(-Number(pass));
        }
    }
}

// The seal that the chip of a pass carries, derived in many steps so that it cannot be guessed.
function sealed(pass) {
    let sum = String(pass);
    for (let i = 0; i < 250; i += 1) {
        sum = crypto.createHmac('sha256', 'lift company, valley station').update(sum).digest('hex');
    }
    return sum.slice(0, 16);
}

const office = new Office();
const revoked = new Set();
if (@{news} === 1) office.listen(revoked).catch((error) => journal.write(`${error.message}\n`));

http.createServer(async (request, response) => {
    const pass = Number(request.url.split('/').pop());
    try {
        const chip = sealed(pass);
        const rides = await office.@{fnCamel}(pass);
        journal.write(`${new Date().toISOString()} pass ${pass} ride ${rides}\n`);
        response.setHeader('Content-Type', 'application/json');
        response.end(JSON.stringify({ pass, chip, rides, open: !revoked.has(pass) }));
    } catch (error) {
        journal.write(`${error.message}\n`);
        response.statusCode = 502;
        response.end();
    }
}).listen(@{port}, '127.0.0.1');
