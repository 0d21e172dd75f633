'use strict';
// Hands the slices of tomographs to the archive: some senders, each with a patient of its own.
const fs = require('fs');
const http = require('http');

const now = () => Number(process.hrtime.bigint()) / 1e9;
const rest = seconds => new Promise(done => setTimeout(done, Math.max(0, seconds) * 1000));
const agent = new http.Agent({ keepAlive: true, maxSockets: @{senders} });

// A strip that is denser towards its middle.
const ROW = Buffer.from(Array.from({ length: 512 }, (_, x) => (65536 - (x - 256) ** 2) >> 8));

class Sender {
  constructor(patient) {
    this.patient = patient;
    this.units = 0;
    this.busy = this.waited = 0;
  }

  slice(number) {
    const points = Buffer.alloc(@{size} * 1000, ROW);
    points[number % 512] = this.patient % 256;
    return points;
  }

  @{fnCamel}(number, points) {
    return new Promise((done, failed) => {
      const headers = { 'Content-Type': 'application/dicom', 'Content-Length': points.length };
      if ('@{ask}' === 'yes') headers.Expect = '100-continue';
      const request = http.request({ host: '127.0.0.1', port: @{port}, method: 'PUT', agent, headers,
        path: `/patients/${this.patient}/slices/${number}` });
      request.on('error', failed);
      request.on('response', answer => {
        let told = '';
        answer.setEncoding('ascii');
        answer.on('data', part => { told += part; });
        answer.on('end', () => (told.length === 8 ? done(told) : failed(new Error(`archive says ${told}`))));
      });
      if ('@{ask}' === 'no') {
        request.end(points);
        return;
      }
      const asked = now();
      const go = () => {
        clearTimeout(timer);
        request.removeListener('continue', go);
        this.waited += now() - asked;
        request.end(points);
      };
      // There are servers that do not know the word.
      const timer = setTimeout(go, @{patience} * 1000);
      request.on('continue', go);
      request.flushHeaders();
    });
  }

  async work(end) {
    const began = now();
    while (now() < end) {
      const start = now();
      await this.@{fnCamel}(this.units, this.slice(this.units));
      this.units++;
      this.busy += now() - start;
      await rest(began + this.units / @{rate} - now());
    }
  }
}

async function main() {
  const end = now() + @{seconds};
  const senders = Array.from({ length: @{senders} }, (_, i) => new Sender(1000 + i * 37));
  await Promise.all(senders.map(sender => sender.work(end)));
  const sum = name => senders.reduce((all, each) => all + each[name], 0);
  fs.writeFileSync('@{report}', JSON.stringify({ units: sum('units'), seconds: sum('busy'), culprit: sum('waited') }));
  agent.destroy();
}

main();
