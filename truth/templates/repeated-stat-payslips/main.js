// The payroll of a chain of bakeries: for each employee, the hours of a month by the rules of their contract, and a payslip of them.
'use strict';
const fs = require('fs');
const path = require('path');
const { performance } = require('perf_hooks');

const EACH = @{each};
const folder = process.argv[process.argv.indexOf('--tables') + 1];
const file = path.join(folder, '@{table}');
let culprit = 0;

class Taxes {
    constructor() {
        this.version = 0;
        this.asked = -1e9;
    }

    @{fnCamel}() {
        const start = performance.now();
        const { mtimeMs } = fs.statSync(file);
        culprit += performance.now() - start;
        if (mtimeMs !== this.version) {
            this.version = mtimeMs;
            this.table = JSON.parse(fs.readFileSync(file, 'utf8'));
        }
    }

    current(line) {
        if (EACH ? line % EACH === 0 : line === 0 && performance.now() - this.asked > 1000) {
            this.asked = performance.now();
            this.@{fnCamel}();
        }
        return this.table;
    }
}

function tax(table, gross) {
    let sum = 0, from = 0;
    for (const [upTo, part] of table.bands) {
        if (gross <= from) break;
        sum += (Math.min(gross, upTo) - from) * part;
        from = upTo;
    }
    return sum;
}

function payslip(taxes, employee) {
    const rows = [];
    const year = new Float64Array(12);
    let net = 0;
    for (let line = 0; line < @{lines}; line++) {
        const table = taxes.current(line);
        const hours = 1 + (employee * 13 + line * 7) % 9;
        const night = (employee + line) % 6 === 0;
        const gross = hours * (14.2 + employee % 11) * (night ? 1.25 : 1);
        const kept = gross - tax(table, gross * 20) / 20 - gross * (table.pension + table.health);
        net += kept;
        for (let month = 1; month <= 60; month++) year[month % 12] += tax(table, gross * (18 + month * 0.11) + year[month % 12] % 3);
        rows.push(Math.round(gross * 100) + ';' + Math.round(kept * 100) + (night ? ';N' : ''));
    }
    return `${employee}\n${rows.join('\n')}\n${Math.round(net * 100)} ${Math.round(Math.max(...year))}\n`;
}

async function main() {
    const taxes = new Taxes();
    const began = performance.now();
    let units = 0, busy = 0, bytes = 0;
    while (performance.now() - began < @{seconds} * 1000) {
        const start = performance.now();
        bytes += payslip(taxes, units++).length;
        busy += performance.now() - start;
        await new Promise((done) => setTimeout(done, Math.max(0, began + units * 1000 / @{rate} - performance.now())));
    }
    fs.writeFileSync('@{report}', JSON.stringify({ units, seconds: busy / 1000, culprit: culprit / 1000, bytes }));
}

main();
