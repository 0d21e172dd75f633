// The box office of an arena: sells seats, and keeps the plan of the house ready as JSON for the screens at the entrances.
'use strict';
const fs = require('fs');
const { setTimeout: pause } = require('timers/promises');

const BLOCKS = @{blocks};
const SEATS = 48;
const now = () => Number(process.hrtime.bigint()) / 1e9;

class House {
    constructor() {
        this.blocks = Array.from({ length: BLOCKS }, (_, block) => ({
            block: `block ${block}`,
            gate: block % 12,
            seats: Array.from({ length: SEATS }, (__, seat) => ({
                row: seat >> 3, seat, block, cents: 1900 + block % 9 * 500, sold: false, holder: null, view: seat % 7 ? 'full' : 'pillar',
            })),
        }));
    }

    sell(block, seat, holder, cents) {
        Object.assign(this.blocks[block].seats[seat], { sold: true, holder, cents });
    }

    release(block, seat) {
        Object.assign(this.blocks[block].seats[seat], { sold: false, holder: null });
    }
}

class Screens {
    constructor(house) {
        this.house = house;
        this.parts = house.blocks.map((block) => JSON.stringify(block));
        this.plan = null;
        this.seconds = 0;
    }

    @{fnCamel}(block) {
        const began = now();
        if ('@{publish}' === 'plan') {
            this.plan = JSON.stringify(this.house.blocks);
        } else {
            this.parts[block] = JSON.stringify(this.house.blocks[block]);
        }
        this.seconds += now() - began;
    }

    // What a screen is sent when it is switched on.
    text() {
        return this.plan ?? `[${this.parts.join(',')}]`;
    }
}

// The price goes up with those around who have bought.
function price(block, seat) {
    let near = 0;
    for (let round = 0; round < 160; round += 1) {
        for (const other of block.seats) {
            const far = Math.hypot(other.row - seat.row, (other.seat % 8) - (seat.seat % 8)) + round / 100;
            near += other.sold ? Math.exp(-far) : 0;
        }
    }
    return Math.round(seat.cents * (1 + Math.min(near / 16000, 0.3)));
}

async function main() {
    const house = new House();
    const screens = new Screens(house);
    const journal = fs.openSync('@{work}/sales.csv', 'w');
    let lines = [];
    let [units, busy] = [0, 0];
    const began = now();
    while (now() - began < @{seconds}) {
        const start = now();
        const [block, seat] = [units * 37 % BLOCKS, units * 29 % SEATS];
        const cents = price(house.blocks[block], house.blocks[block].seats[seat]);
        if (units % 11 === 10) house.release(block, seat);
        else house.sell(block, seat, `order ${100000 + units}`, cents);
        screens.@{fnCamel}(block);
        lines.push(`${units};${block};${seat};${cents}`);
        if (lines.length === 50) {
            fs.writeSync(journal, `${lines.join('\n')}\n`);
            lines = [];
        }
        busy += now() - start;
        units += 1;
        const rest = began + units / @{rate} - now();
        if (rest > 0) await pause(rest * 1000);
    }
    fs.writeSync(journal, `${lines.join('\n')}\nplan of ${screens.text().length} letters\n`);
    fs.writeFileSync('@{report}', JSON.stringify({ units, seconds: busy, culprit: screens.seconds }));
}

main();
