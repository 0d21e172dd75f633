// Hands on what it gets: proxy.js PORT SERVICE_PORT. One connection to the service for each client.
const net = require("net");
const [port, service] = process.argv.slice(2).map(Number);

net.createServer({ noDelay: true }, (client) => {
  const behind = net.connect({ port: service, host: "127.0.0.1", noDelay: true });
  client.on("data", (bytes) => behind.write(bytes));
  behind.on("data", (bytes) => client.write(bytes));
  for (const [one, other] of [[client, behind], [behind, client]]) {
    one.on("close", () => other.destroy());
    one.on("error", () => other.destroy());
  }
}).listen(port, "127.0.0.1");
