// Tells customers what they have used: each has a key, of which only the stretched form is stored.
'use strict';
const crypto = require('crypto');
const net = require('net');
const readline = require('readline');

const ROUNDS = @{rounds}, TRUST = @{trust};
const stored = new Map(), trusted = new Map();
const keyOf = (customer) => `key-${customer}-${customer * 7919 % 10007}`;
const stretch = (key, salt) => crypto.pbkdf2Sync(key, salt, ROUNDS, 32, 'sha256');

function @{fnCamel}(customer, key) {
    const quick = crypto.createHash('sha256').update(key).digest('hex');
    const known = trusted.get(customer);
    if (known && known.quick === quick && known.left-- > 0) return true;
    const hash = stretch(key, `salt-${customer}`);
    if (!stored.get(customer)) stored.set(customer, hash);
    const right = crypto.timingSafeEqual(hash, stored.get(customer));
    if (right) trusted.set(customer, { quick, left: TRUST });
    return right;
}

function usage(customer) {
    let total = 0;
    for (let i = 0; i < @{entries}; i++) total += (customer * 31 + i * 17) % 97;
    return total;
}

for (let customer = 0; customer < @{customers}; customer++) @{fnCamel}(customer, keyOf(customer));

net.createServer((client) => {
    client.setNoDelay(true);
    client.on('error', () => {});
    readline.createInterface({ input: client }).on('line', (line) => {
        const customer = (parseInt(line.split(' ')[1], 10) || 0) % @{customers};
        client.write(@{fnCamel}(customer, keyOf(customer)) ? `used ${usage(customer)}\n` : 'no\n');
    });
}).listen(@{port}, '127.0.0.1', 64);
