// Carts of wholesale customers: each event of a scanner puts a line into one of them. The oldest line goes when a cart is full.
'use strict';
const fs = require('fs');
const { performance } = require('perf_hooks');

const LINES = @{lines}, CARTS = @{carts};
const now = () => performance.now() / 1000;
const pause = (seconds) => new Promise((done) => setTimeout(done, Math.max(0, seconds * 1000)));

const line = (number) => ({
    sku: `S-${String(number * 7919 % 99991).padStart(6, '0')}`,
    pieces: number % 12 + 1,
    cents: number * 31 % 9973,
    text: 'article ' + 'x'.repeat(@{text}),
});

function fullCart(customer) {
    const lines = Array.from({ length: LINES }, (_, number) => line(customer * 1000 + number));
    return '@{store}' === 'text' ? JSON.stringify({ customer, lines }) : { at: 0, lines: lines.map((entry) => JSON.stringify(entry)) };
}

function @{fnCamel}(carts, customer, entry) {
    if ('@{store}' === 'lines') {
        const cart = carts[customer];
        cart.lines[cart.at] = JSON.stringify(entry);
        cart.at = (cart.at + 1) % cart.lines.length;
        return cart.lines.length;
    }
    const cart = JSON.parse(carts[customer]);
    cart.lines.shift();
    cart.lines.push(entry);
    carts[customer] = JSON.stringify(cart);
    return cart.lines.length;
}

async function main() {
    const carts = Array.from({ length: CARTS }, (_, customer) => fullCart(customer));
    let units = 0, busy = 0, culprit = 0, total = 0;
    const began = now();
    while (now() - began < @{seconds}) {
        const start = now();
        const entry = line(units);
        const asked = now();
        total += @{fnCamel}(carts, units % CARTS, entry);
        culprit += now() - asked;
        units++;
        busy += now() - start;
        await pause(began + units / @{rate} - now());
    }
    fs.writeFileSync('@{report}', JSON.stringify({ units, seconds: busy, culprit }));
    console.log(total);
}

main();
