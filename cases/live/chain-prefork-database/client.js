// Reserves seats now and then, each over a connection of its own: what takes long is not here.
const net = require("net");

let number = 0;
function reserve() {
  const connection = net.connect(Number(process.argv[2]), "127.0.0.1");
  connection.on("connect", () => connection.write(`reserve ${(number += 1)}\n`));
  connection.on("data", () => {
    connection.destroy();
    setTimeout(reserve, 30);
  });
}
reserve();
