// Events go to all transports that are set up: those of the defaults, and those of the service.
const fs = require("fs");

const now = () => Number(process.hrtime.bigint()) / 1e9;
const ROOM = 48 << 20;

class FileTransport {
  constructor(path) {
    this.fd = fs.openSync(path, "w");
    this.at = 0;
    this.seconds = 0;
  }

  @{fnCamel}(block) {
    const start = now();
    if (this.at + block.length > ROOM) this.at = 0;
    fs.writeSync(this.fd, block, 0, block.length, this.at);
    this.at += block.length;
    this.seconds += now() - start;
  }
}

const defaults = { transports: [new FileTransport("@{work}/@{journal}")] };
const service = { transports: @{targets} > 1 ? [new FileTransport("@{work}/@{second}")] : [] };
const transports = [...defaults.transports, ...service.transports];

const block = Buffer.alloc(@{bytes}, "event;");
const rate = Math.min(300, (@{load} * 1e9) / (@{block} * @{blocks}));
const spent = { units: 0, seconds: 0, culprit: 0 };
const began = now();

function period() {
  const start = now();
  if (start - began >= @{seconds}) {
    spent.culprit = service.transports.reduce((sum, transport) => sum + transport.seconds, 0);
    fs.writeFileSync("@{report}", JSON.stringify(spent));
    return;
  }
  for (let i = 0; i < @{used}; i++) {
    block.writeUInt32LE(i + spent.units * 1000, 0);
    for (const transport of transports) transport.@{fnCamel}(block);
  }
  spent.units++;
  spent.seconds += now() - start;
  setTimeout(period, Math.max(0, (began + spent.units / rate - now()) * 1000));
}

period();
