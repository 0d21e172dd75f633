// A filter in front of a page of reviews: advertisements are kept back, and so is what was said a moment ago.
'use strict';
const net = require('net');
const readline = require('readline');

const OFFER = {
    free: /^.*(www|http).*\..*\..*[0-9]+ ?(eur|usd)/,
    strict: /(?:www|http)[^.\s]*\.[^.\s]*\.[^0-9]*[0-9]+ ?(?:eur|usd)/,
}['@{expression}'];
const KEPT = @{recent} * 4;

class Filter {
    constructor() {
        this.recent = [];
        this.counts = { published: 0, offer: 0, repeated: 0 };
    }

    @{fnCamel}(text) {
        return OFFER.test(text);
    }

    // The threes of letters of a text, by which likeness is measured.
    threes(text) {
        const found = new Set();
        for (let at = 0; at + 3 <= text.length; at += 2) found.add(text.slice(at, at + 3));
        return found;
    }

    isRepeated(threes) {
        for (const earlier of this.recent) {
            let same = 0;
            for (const three of threes) same += earlier.has(three);
            if (threes.size > 60 && same > threes.size * 0.97) return true;
        }
        return false;
    }

    verdict(text) {
        const lower = text.toLowerCase().normalize('NFC');
        if (this.@{fnCamel}(lower)) return 'offer';
        const threes = this.threes(lower);
        if (this.isRepeated(threes)) return 'repeated';
        this.recent.push(threes);
        if (this.recent.length > KEPT) this.recent.shift();
        return 'published';
    }

    judge(text) {
        const said = this.verdict(text);
        this.counts[said] += 1;
        return said;
    }
}

const filter = new Filter();
net.createServer((guest) => {
    guest.setNoDelay(true);
    guest.on('error', (error) => console.error(error.message));
    readline.createInterface({ input: guest }).on('line', (text) => guest.write(`${filter.judge(text)}\n`));
}).listen(@{port}, '127.0.0.1');
setInterval(() => console.log(JSON.stringify(filter.counts)), 5000);
