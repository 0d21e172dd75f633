'use strict';
// The pump house of an allotment society: how long the tap of a plot may run.
const fs = require('fs');
const net = require('net');

const THIRST = { beans: 1.1, leeks: 0.9, kale: 0.8, roses: 0.7, berries: 1.2, marrow: 1.5 };

// A connection on which one line is said, and one comes back.
class Line {
    constructor(port) {
        this.socket = net.connect(port, '127.0.0.1');
        this.socket.setNoDelay(true);
        this.waiting = [];
        let text = '';
        this.socket.on('data', (piece) => {
            const lines = (text + piece).split('\n');
            text = lines.pop();
            for (const line of lines) this.waiting.shift()?.resolve(line);
        });
        this.socket.on('error', (error) => this.waiting.splice(0).forEach((one) => one.reject(error)));
    }

    ask(text) {
        return new Promise((resolve, reject) => {
            this.waiting.push({ resolve, reject });
            this.socket.write(`${text}\n`);
        });
    }

    close() {
        this.socket.destroy();
    }
}

class Ground {
    constructor() {
        this.cells = new Map();
    }

    async @{fnCamel}(cell, line) {
        const known = this.cells.get(cell);
        if (known) return known;
        const [moisture, evaporation] = (await line.ask(`cell ${cell}`)).split(' ').map(Number);
        const said = { moisture, evaporation };
        if ('@{moisture}' === 'kept') this.cells.set(cell, said);
        return said;
    }

    async open(line) {
        if ('@{moisture}' === 'kept') for (let cell = 0; cell < @{cells}; cell++) await this.@{fnCamel}(cell, line);
    }
}

function plotsOf(path) {
    const rows = fs.readFileSync(path, 'utf8').trim().split('\n');
    return rows.map((row) => {
        const [number, crop, area, cell] = row.split(';');
        return { number: Number(number), crop, area: Number(area), cell: Number(cell) };
    });
}

// The seconds, by the balance of each hour of the day.
function seconds(plot, { moisture, evaporation }) {
    let wet = moisture * 100;
    for (let step = 0; step < 24 * @{detail} * 60; step++) {
        const sun = Math.max(0, Math.sin(((step % 1440) * Math.PI) / 1440));
        wet -= (evaporation * THIRST[plot.crop] * sun) / (@{detail} * 60 * 4);
        if (wet < 5) wet = 5;
    }
    return Math.round((plot.area * Math.max(0, 62 - wet)) / 18);
}

const frost = { said: 'no news', news: 0 };

async function watchFrost() {
    const line = new Line(@{frost});
    for (;;) {
        frost.said = await line.ask('watch');
        frost.news++;
    }
}

async function main() {
    const plots = plotsOf('@{work}/@{plots}');
    const ground = new Ground();
    const first = new Line(@{soil});
    await ground.open(first);
    first.close();
    watchFrost().catch((error) => console.error('frost watch', error.message));

    async function answer(line, service) {
        const plot = plots[Number(line.split(' ')[1]) % plots.length];
        if (!plot) return 'no such plot';
        const said = await ground.@{fnCamel}(plot.cell, service);
        return `plot ${plot.number}: ${seconds(plot, said)} s, ${frost.said}`;
    }

    net.createServer((tap) => {
        const service = new Line(@{soil});
        let text = '';
        let turn = Promise.resolve();
        tap.setNoDelay(true);
        tap.on('data', (piece) => {
            const lines = (text + piece).split('\n');
            text = lines.pop();
            for (const line of lines) turn = turn.then(() => answer(line, service)).then((said) => tap.write(`${said}\n`), (error) => tap.destroy(error));
        });
        tap.on('error', () => {});
        tap.on('close', () => service.close());
    }).listen(@{port}, '127.0.0.1');
}

main();
