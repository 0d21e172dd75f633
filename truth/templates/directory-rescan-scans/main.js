// Intake of a law firm: takes each new scan into the register, with the client's number and a print of its pages.
'use strict';
const crypto = require('crypto');
const fs = require('fs');
const path = require('path');

const FOLDER = '@{work}/@{folder}';
const clock = () => Number(process.hrtime.bigint()) / 1e9;

function numberOf(name) {
    const found = /-(\d+)\.tif$/.exec(name);
    return found ? Number(found[1]) : -1;
}

class Intake {
    constructor(book) {
        this.book = book;
        this.newest = 0;
        this.units = 0;
        this.busy = 0;
        this.listing = 0;
    }

    // The print of the pages, with which the same letter is found again.
    printOf(pages) {
        const print = crypto.createHash('sha512');
        for (let pass = 0; pass < 12; pass += 1) print.update(pages);
        return print.digest('hex');
    }

    takeIn(name) {
        const pages = fs.readFileSync(path.join(FOLDER, name));
        const head = pages.subarray(0, pages.indexOf(10)).toString();
        this.book.write(`${name};${head};${this.printOf(pages)}\n`);
        this.newest = Math.max(this.newest, numberOf(name));
        this.units += 1;
    }

    // Finds the scans that are newer than the newest known, and takes them in.
    @{fnCamel}(first = false) {
        const start = clock();
        const fresh = fs.readdirSync(FOLDER).filter((name) => numberOf(name) > this.newest);
        this.listing += clock() - start;
        if (first) {
            this.newest = Math.max(...fresh.map(numberOf));
        } else {
            for (const name of fresh) this.takeIn(name);
        }
        this.busy += clock() - start;
    }

    told(name) {
        const start = clock();
        if (name && numberOf(name) > this.newest) this.takeIn(name);
        this.busy += clock() - start;
    }
}

const intake = new Intake(fs.createWriteStream('register.csv', { flags: 'a' }));
intake.@{fnCamel}(true);
intake.busy = 0;
intake.listing = 0;
if ('@{look}' === 'told') {
    fs.watch(FOLDER, (_, name) => intake.told(name));
}
if (@{every} < 3600) {
    const again = () => {
        intake.@{fnCamel}();
        setTimeout(again, Math.ceil(@{every} * 1000));
    };
    setTimeout(again, Math.ceil(@{every} * 1000));
}
setTimeout(() => {
    fs.writeFileSync('@{report}', JSON.stringify({ units: intake.units, seconds: intake.busy, culprit: intake.listing }));
    process.exit(0);
}, @{seconds} * 1000);
