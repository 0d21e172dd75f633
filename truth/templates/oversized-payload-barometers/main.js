// A weather archive. "pressure N" is answered by station N's samples for a display, "all N" by its years.
const net = require('net');

const SAMPLE = 12;
const STATIONS = 4;

class Station {
  constructor(number) {
    this.number = number;
    this.samples = Buffer.alloc(@{years} * SAMPLE);
    let pressure = 1013;
    for (let i = 0; i < @{years}; i++) {
      pressure += Math.sin(i / 900 + number) * 0.02;
      this.samples.writeUInt32LE(i * 600, i * SAMPLE);
      this.samples.writeUInt32LE(number, i * SAMPLE + 4);
      this.samples.writeFloatLE(pressure, i * SAMPLE + 8);
    }
  }

  last(count) {
    return this.samples.subarray(this.samples.length - count * SAMPLE);
  }

  // What the forecaster's rule of thumb says: rising or falling, smoothed over the last days.
  tendency() {
    const days = this.last(600);
    let smooth = 0;
    for (let round = 0; round < @{rounds}; round++) {
      smooth = days.readFloatLE(8);
      for (let i = 1; i < 600; i++) smooth += (days.readFloatLE(i * SAMPLE + 8) - smooth) / (round + 2);
    }
    const now = days.readFloatLE(599 * SAMPLE + 8);
    return Math.abs(now - smooth) < 0.1 ? 'steady' : now > smooth ? 'rising' : 'falling';
  }
}

function @{fnCamel}(display, station, count) {
  const samples = station.last(count);
  display.write(`${station.tendency()} ${samples.length / SAMPLE}\n`);
  display.write(samples);
}

function serve(stations, display) {
  let text = '';
  display.setNoDelay(true);
  display.on('error', (error) => console.error(error.message));
  display.on('data', (data) => {
    text += data;
    for (let end; (end = text.indexOf('\n')) >= 0; text = text.slice(end + 1)) {
      const [what, number] = text.slice(0, end).split(' ');
      const station = stations[Number(number) % STATIONS];
      display.cork();
      @{fnCamel}(display, station, what === 'all' ? @{years} : @{sent});
      display.uncork();
    }
  });
}

const stations = Array.from({ length: STATIONS }, (_, number) => new Station(number));
net.createServer((display) => serve(stations, display)).listen(@{port}, '127.0.0.1');
