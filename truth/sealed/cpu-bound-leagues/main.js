// The pages of a league: the ten best, as they are now. A visit counts as a win for the visitor's favourite.
"use strict";
const http = require("http");
const net = require("net");

class Ranking {
  constructor() {
    this.waiting = [];
    this.text = "";
    this.socket = net.connect({ port: @{ranking}, host: "127.0.0.1", noDelay: true });
    this.socket.setEncoding("utf8").on("data", (part) => this.take(part));
  }

  take(part) {
    const lines = (this.text + part).split("\n");
    this.text = lines.pop();
    for (const line of lines) this.waiting.shift()(line);
  }

  table(league, favourite) {
    this.socket.write(`won ${league} ${favourite}\n`);
    return new Promise((answer) => this.waiting.push(answer));
  }
}

const ranking = new Ranking();

async function @{fnCamel}(visit) {
  const rows = (await ranking.table(visit % @{leagues}, visit * 7)).split(" ");
  const cells = rows.map((row, place) => `<tr><td>${place + 1}<td>player ${row.replace(":", "<td>")}</tr>`);
  return `<!doctype html><title>League ${visit % @{leagues}}</title><table>${cells.join("")}</table>`;
}

http
  .createServer(async (request, response) => {
    const page = await @{fnCamel}(Number(request.url.split("/")[2]) || 0);
    response.writeHead(200, { "Content-Type": "text/html", "Content-Length": Buffer.byteLength(page) });
    response.end(page);
  })
  .listen(@{port}, "127.0.0.1");
