// Passes lines on to the service and back, all in one event loop: proxy.js PORT SERVICE_PORT.
const net = require("net");

const [port, service] = process.argv.slice(2).map(Number);
net.createServer((client) => {
  const upstream = net.connect(service, "127.0.0.1");
  client.setNoDelay(true).on("data", (line) => upstream.write(line));
  upstream.setNoDelay(true).on("data", (line) => client.write(line));
  const end = () => [client, upstream].forEach((socket) => socket.destroy());
  [client, upstream].forEach((socket) => socket.on("error", end).on("close", end));
}).listen(port, "127.0.0.1");
