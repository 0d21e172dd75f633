const net = require('net');

const codes = (series) => Array.from({ length: @{pins} }, (_, i) => ((series + 3) * (i * 7 + 11) + @{seed}) % 9 + 1).join('');

net.createServer((link) => {
  let rest = '';
  link.on('error', () => link.destroy());
  link.on('data', (data) => {
    const lines = (rest + data).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      setTimeout(() => link.write(codes(Number(line)) + '\n'), @{delay} * (0.8 + 0.4 * Math.random()));
    }
  });
}).listen('@{work}/@{safe}');
