// Smooths the readings of sensors: the median of the last ones, for each that arrives.
'use strict';
const fs = require('fs');
const { performance } = require('perf_hooks');

const now = () => performance.now() / 1000;
const waitUntil = (due) => new Promise((done) => setTimeout(done, Math.max(0, (due - now()) * 1000)));
const report = (units, seconds, culprit) => fs.writeFileSync('@{report}', JSON.stringify({ units, seconds, culprit }));

class Sensor {
    constructor(size) {
        this.values = Array.from({ length: size }, (_, i) => (i * 7919) % 10007);
        this.sorted = [...this.values].sort((a, b) => a - b);
        this.at = 0;
    }

    place(value) {
        let low = 0, high = this.sorted.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (this.sorted[middle] < value) low = middle + 1;
            else high = middle;
        }
        return low;
    }

    @{fnCamel}(value) {
        const old = this.values[this.at];
        this.values[this.at] = value;
        this.at = (this.at + 1) % this.values.length;
        if ('@{index}' === 'list') {
            return this.values.slice().sort((a, b) => a - b)[this.values.length >> 1];
        }
        this.sorted.splice(this.place(old), 1);
        this.sorted.splice(this.place(value), 0, value);
        return this.sorted[this.sorted.length >> 1];
    }
}

async function main() {
    const sensors = Array.from({ length: @{lines} }, () => new Sensor(@{window}));
    let units = 0, busy = 0, culprit = 0, n = 1;
    const began = now();
    while (now() - began < @{seconds}) {
        const start = now();
        const readings = sensors.map(() => (n = (n * 16807) % 2147483647) % 10007);
        const asked = now();
        const medians = sensors.map((sensor, i) => sensor.@{fnCamel}(readings[i]));
        culprit += now() - asked;
        JSON.stringify(medians);
        units++;
        busy += now() - start;
        await waitUntil(began + units / @{rate});
    }
    report(units, busy, culprit);
}

main();
