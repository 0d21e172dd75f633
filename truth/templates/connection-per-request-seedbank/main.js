'use strict';
// Brings the lots of the drying room into the registry of seeds, with the share of them that will come up.
const fs = require('fs');
const net = require('net');
const { performance } = require('perf_hooks');

const now = () => performance.now() / 1000;
const pause = (seconds) => new Promise((done) => setTimeout(done, Math.max(0, seconds * 1000)));

class Session {
    constructor(socket) {
        this.socket = socket;
        this.lines = [];
        this.waiting = [];
        let text = '';
        socket.setNoDelay(true);
        socket.on('data', (piece) => {
            const parts = (text + piece).split('\r\n');
            text = parts.pop();
            for (const line of parts) {
                if (this.waiting.length) this.waiting.shift().resolve(line);
                else this.lines.push(line);
            }
        });
        const lost = () => this.waiting.splice(0).forEach((one) => one.reject(new Error('the registry hung up')));
        socket.on('error', lost);
        socket.on('close', lost);
    }

    line() {
        if (this.lines.length) return Promise.resolve(this.lines.shift());
        return new Promise((resolve, reject) => this.waiting.push({ resolve, reject }));
    }

    async expect(code) {
        const line = await this.line();
        if (!line.startsWith(code)) throw new Error(`the registry says: ${line}`);
        return line.slice(4);
    }
}

class Registry {
    constructor(port, name) {
        this.port = port;
        this.name = name;
        this.session = null;
        this.spent = 0;
    }

    async @{fn}() {
        const start = now();
        const session = new Session(net.connect(this.port, '127.0.0.1'));
        await session.expect('220');
        session.socket.write(`HELO ${this.name}\r\n`);
        await session.expect('250');
        this.spent += now() - start;
        return session;
    }

    async leave() {
        const start = now();
        this.session.socket.write('QUIT\r\n');
        await this.session.expect('221');
        this.session.socket.end();
        this.session = null;
        this.spent += now() - start;
    }

    async enter(lots) {
        this.session ??= await this.@{fn}();
        this.session.socket.write(lots.map((lot) => `LOT ${lot.number} ${lot.genus} ${lot.grams} ${lot.share}\r\n`).join(''));
        for (const lot of lots) lot.accession = await this.session.expect('251');
        if ('@{session}' === 'ends') await this.leave();
    }
}

function lotsOf(path) {
    const rows = fs.readFileSync(path, 'utf8').trim().split('\n');
    return rows.map((row) => {
        const [number, genus, grams, ...days] = row.split(';');
        return { number: Number(number), genus, grams: Number(grams), days: days.map(Number) };
    });
}

// The share that comes up: the curve that fits the counts of the days best.
function shareOf(days) {
    const steps = @{fits} * 40;
    let best = 0;
    let error = Infinity;
    for (let step = 1; step <= steps; step++) {
        const top = (step * 100) / steps;
        let sum = 0;
        days.forEach((count, day) => {
            sum += (count - top / (1 + Math.exp(6 - day))) ** 2;
        });
        if (sum < error) [best, error] = [top, sum];
    }
    return best.toFixed(1);
}

async function main() {
    const sheet = lotsOf('@{work}/@{sheet}');
    const registry = new Registry(@{port}, 'drying-room');
    let tray = [];
    let units = 0;
    let busy = 0;
    const began = now();
    while (now() - began < @{seconds}) {
        const start = now();
        const lot = sheet[units % sheet.length];
        tray.push({ ...lot, share: shareOf(lot.days) });
        units++;
        if (tray.length >= @{lots}) {
            await registry.enter(tray);
            tray = [];
        }
        busy += now() - start;
        await pause(began + units / @{rate} - now());
    }
    const start = now();
    if (tray.length) await registry.enter(tray);
    busy += now() - start;
    console.log(`${units} lots`);
    fs.writeFileSync('@{report}', JSON.stringify({ units, seconds: busy, culprit: registry.spent }));
    process.exit(0);
}

main().catch((error) => {
    console.error(error);
    process.exit(1);
});
