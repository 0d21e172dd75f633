// Where a parcel goes, for those who hand it in: GET /parcels/NUMBER.
"use strict";
const http = require("http");
const net = require("net");
const readline = require("readline");

// Connections to the planner that nobody uses now.
const free = [];

class Planner {
  constructor() {
    this.socket = net.connect({ port: @{planner}, host: "127.0.0.1", noDelay: true });
    readline.createInterface({ input: this.socket }).on("line", (line) => this.answer(line));
  }

  plan(parcel) {
    return new Promise((answer) => {
      this.answer = answer;
      this.socket.write(`plan ${parcel}\n`);
    });
  }
}

async function @{fnCamel}(parcel) {
  const planner = free.pop() ?? new Planner();
  const [tour, shelf] = (await planner.plan(parcel)).split(" ").map(Number);
  free.push(planner);
  return { parcel, tour, shelf, label: `T${tour}-S${shelf}-${parcel}` };
}

http
  .createServer(async (request, response) => {
    const body = JSON.stringify(await @{fnCamel}(Number(request.url.split("/")[2]) || 0));
    response.writeHead(200, { "Content-Type": "application/json", "Content-Length": body.length });
    response.end(body);
  })
  .listen(@{port}, "127.0.0.1");
