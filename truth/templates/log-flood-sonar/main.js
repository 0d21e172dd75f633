// Follows a pipeline on the sea's ground by the pings of a sonar.
'use strict';
const fs = require('fs');

const [BEAMS, DETAIL, EVERY] = [@{beams}, @{detail}, @{every}];
const now = () => performance.now() / 1000;

class Log {
  constructor(path) {
    this.file = fs.openSync(path, 'a');
    this.spent = 0;
  }

  write(level, text) {
    fs.writeSync(this.file, `${new Date().toISOString()} ${level} pipeline: ${text}\n`);
  }

  @{fnCamel}(ping, depths, where) {
    const start = now();
    if (DETAIL) {
      for (let beam = 0; beam < depths.length; beam++) {
        this.write('@{level}', `ping ${ping} beam ${beam}: angle ${((beam * 120) / BEAMS - 60).toFixed(2)} depth ${depths[beam].toFixed(3)} m, quality ${beam % 7}, gain ${40 + (beam % 9)} dB`);
      }
    }
    if (ping % EVERY === 0) this.write('INFO', `ping ${ping}: pipeline in beam ${where}`);
    this.spent += now() - start;
  }
}

function echoes(ping) {
  return Array.from({ length: BEAMS }, (_, beam) => @{ground} + Math.sin(beam / 9 + ping / 30) - (Math.abs(beam - (ping % BEAMS)) < 3 ? 1.5 : 0));
}

function highest(depths) {
  let at = 0;
  depths.forEach((depth, beam) => {
    if (depth < depths[at]) at = beam;
  });
  return at;
}

const log = new Log('@{work}/@{journal}');
let pings = 0;
let busy = 0;
const end = now() + @{seconds};
(function next() {
  const start = now();
  if (start >= end) {
    fs.writeFileSync('@{report}', JSON.stringify({ units: pings, seconds: busy, culprit: log.spent }));
    return;
  }
  const depths = echoes(pings);
  log.@{fnCamel}(pings, depths, highest(depths));
  pings++;
  busy += now() - start;
  setTimeout(next, 1000 * Math.max(0, start + 1 / @{per_s} - now()));
})();
