// Changes money for travellers: each desk asks the exchanges for their rates, and takes the best.
'use strict';
const fs = require('fs');
const net = require('net');
const { setTimeout: pause } = require('timers/promises');

const PORTS = [@{first}, @{second}, @{third}];
const CURRENCIES = ['dollar', 'franc', 'krone', 'zloty', 'lira', 'forint'];
const now = () => Number(process.hrtime.bigint()) / 1e9;

class Exchange {
    constructor(port) {
        this.port = port;
        this.line = null;
    }

    open() {
        this.rest = '';
        this.line = net.connect({ port: this.port, host: '127.0.0.1', noDelay: true });
        this.line.on('timeout', () => this.line.destroy(new Error(`the exchange at ${this.port} takes too long`)));
        this.line.on('data', (some) => {
            this.rest += some;
            const end = this.rest.indexOf('\n');
            if (end < 0) return;
            const text = this.rest.slice(0, end);
            this.rest = this.rest.slice(end + 1);
            this.line.setTimeout(0);
            this.done(Number(text.split(' ')[1]));
        });
        this.line.on('error', (error) => {
            this.line = null;
            this.failed(error);
        });
        this.line.on('close', () => { this.line = null; });
    }

    @{fnCamel}(currency, number) {
        if (!this.line) this.open();
        return new Promise((done, failed) => {
            this.done = done;
            this.failed = failed;
            this.line.setTimeout(@{limit} * 1000);
            this.line.write(`RATE ${currency} ${number}\n`);
        });
    }
}

class Desk {
    constructor(number, journal) {
        this.number = number;
        this.journal = journal;
        this.exchanges = PORTS.map((port) => new Exchange(port));
        this.units = 0;
        this.busy = 0;
        this.asking = 0;
        this.start = this.asked = null;
    }

    async change(traveller) {
        const currency = CURRENCIES[traveller % CURRENCIES.length];
        let best = 0;
        for (const exchange of this.exchanges) {
            this.asked = now();
            try {
                best = Math.max(best, await exchange.@{fnCamel}(currency, traveller));
            } catch (error) {
                this.journal.write(`desk ${this.number}: ${error.message}\n`);
            }
            if (exchange.port === PORTS[2]) this.asking += now() - this.asked;
        }
        this.asked = null;
        this.journal.write(`desk ${this.number} ${currency} ${best} ${this.notes(Math.round(best * 40000))}\n`);
    }

    // In how many ways a sum can be paid out.
    notes(cents) {
        const ways = new Array(Math.floor(cents / 100) + 1).fill(0);
        ways[0] = 1;
        for (const note of [1, 2, 5, 10, 20, 50, 100]) {
            for (let sum = note; sum < ways.length; sum += 1) ways[sum] = (ways[sum] + ways[sum - note]) % 1e9;
        }
        return ways[ways.length - 1];
    }

    async work(began) {
        await pause(this.number * 7);
        while (true) {
            this.start = now();
            await this.change(this.units * 31 + this.number);
            this.busy += now() - this.start;
            this.start = null;
            this.units += 1;
            const rest = began + this.units / @{rate} - now();
            if (rest > 0) await pause(rest * 1000);
        }
    }

    // What it waits for at this moment counts as well.
    sofar() {
        const end = now();
        const hangs = this.asked === null ? 0 : end - this.asked;
        return { units: this.units, seconds: this.busy + (this.start === null ? 0 : end - this.start), culprit: this.asking + hangs };
    }
}

const journal = fs.createWriteStream('@{work}/desks.log');
const desks = Array.from({ length: @{desks} }, (_, number) => new Desk(number, journal));
if (@{board}) {
    // A board at the wall may ask what was changed.
    net.createServer((board) => board.end(`${desks.map((desk) => desk.units)}\n`)).listen(0, '127.0.0.1');
}
const began = now();
for (const desk of desks) desk.work(began);
setTimeout(() => {
    const total = { units: 0, seconds: 0, culprit: 0 };
    for (const desk of desks) {
        for (const [name, value] of Object.entries(desk.sofar())) total[name] += value;
    }
    fs.writeFileSync('@{report}', JSON.stringify(total));
    process.exit(0);
}, @{seconds} * 1000);
