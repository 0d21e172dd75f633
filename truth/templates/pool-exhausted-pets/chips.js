// The register of chips that pets carry. A frame is its length (2 bytes) and JSON, there and back.
const net = require('net');

function record(question) {
  const { chip } = JSON.parse(question);
  return JSON.stringify({ chip, species: chip % @{species}, rabies: chip % 7 !== 0, until: 20270101 + (chip % 300) });
}

function framed(text) {
  const frame = Buffer.alloc(2 + Buffer.byteLength(text));
  frame.writeUInt16BE(frame.length - 2);
  frame.write(text, 2);
  return frame;
}

net
  .createServer((post) => {
    let kept = Buffer.alloc(0);
    post.on('error', () => post.destroy());
    post.on('data', (bytes) => {
      kept = Buffer.concat([kept, bytes]);
      while (kept.length >= 2 && kept.length >= 2 + kept.readUInt16BE()) {
        const end = 2 + kept.readUInt16BE();
        const answer = framed(record(kept.toString('utf8', 2, end)));
        kept = kept.subarray(end);
        setTimeout(() => post.write(answer), @{delay});
      }
    });
  })
  .listen('@{work}/@{register}');
