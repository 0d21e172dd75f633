// A payroll: shows the heads of teams what a month of their people comes to.
'use strict';
const net = require('net');
const readline = require('readline');

class TimeClock {
    constructor(port) {
        this.line = net.connect(port, '127.0.0.1');
        this.line.setNoDelay(true);
        this.line.on('error', (error) => { console.error(error.message); process.exit(1); });
        this.waiting = [];
        readline.createInterface({ input: this.line }).on('line', (text) => this.received(text));
    }

    received(text) {
        const words = text.split(' ');
        const first = this.waiting[0];
        first.lines.push(words.slice(1));
        if (words[0] !== 'OK' || first.lines.length === first.count) {
            this.waiting.shift();
            words[0] === 'OK' ? first.done(first.lines) : first.failed(new Error('the time clock does not know'));
        }
    }

    ask(text, count) {
        return new Promise((done, failed) => {
            this.waiting.push({ lines: [], count, done, failed });
            this.line.write(`${text}\n`);
        });
    }

    async team(number) {
        const [members] = await this.ask(`TEAM ${number}`, 1);
        return members.map(Number);
    }

    async shifts(members) {
        const lines = await this.ask(`SHIFTS ${members.join(',')}`, members.length);
        return lines.map(([member, ...worked]) => ({ member: Number(member), worked: worked.map((word) => word.split('-').map(Number)) }));
    }
}

async function @{fnCamel}(clock, members) {
    if ('@{ask}' === 'all') return clock.shifts(members);
    const found = [];
    for (const member of members) {
        const [shifts] = await clock.shifts([member]);
        found.push(shifts);
    }
    return found;
}

// What shifts are worth: what is after eight in the evening or beyond eight hours counts more.
function cents({ member, worked }) {
    const wage = 1400 + member % 37 * 40;
    let minutes = 0;
    for (const [from, to] of worked) {
        for (let minute = from; minute < to; minute += 1) {
            minutes += (minute % 1440 > 1200 ? 1.25 : 1) * (minute - from > 480 ? 1.5 : 1);
        }
    }
    return Math.round(minutes * wage / 60);
}

async function month(clock, team) {
    const shifts = await @{fnCamel}(clock, await clock.team(team));
    const total = shifts.reduce((sum, one) => sum + cents(one), 0);
    return `team ${team}: ${shifts.length} members, ${(total / 100).toFixed(2)}\n`;
}

net.createServer((head) => {
    const clock = new TimeClock(@{store});
    head.setNoDelay(true);
    head.on('error', () => {});
    head.on('close', () => clock.line.end());
    readline.createInterface({ input: head }).on('line', async (line) => {
        head.write(await month(clock, Number(line.split(' ').pop())));
    });
}).listen(@{port}, '127.0.0.1');
