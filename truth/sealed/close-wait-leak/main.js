const net = require("net");

const rooms = new Map();
let visits = 0;

function @{fnCamel}(guest) {
  const visit = visits++;
  rooms.set(visit, guest);
  guest.setEncoding("utf8");
  guest.on("data", (text) => guest.write(`room ${text.length % 9}\n`));
  guest.on("error", () => rooms.delete(visit));
  guest.on("end", () => {
    if (@{closes}) {
      setTimeout(() => {
        rooms.delete(visit);
        guest.end();
      }, @{drain} * 1000);
    }
  });
}

net.createServer({ allowHalfOpen: true }, @{fnCamel}).listen(@{port}, "127.0.0.1", 200);
