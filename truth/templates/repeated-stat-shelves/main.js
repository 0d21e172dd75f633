// Catalogue of a library: a page for each shelf, with icons that say what one may do with a book.
const fs = require("fs");
const http = require("http");
const path = require("path");

const ROOT = path.join("@{work}", "@{public}");
const MARKS = ["loan", "shelf", "braille", "audio", "large", "map", "score", "film", "local", "order", "star", "note"];
const AUTHORS = ["A. Lind", "B. Okoro", "C. Marsh", "D. Weiss", "E. Sato", "F. Ruiz"];

// Addresses of static files, with the time of the file, so that browsers may keep them.
class Assets {
  constructor() {
    this.refresh();
  }

  @{fnCamel}(name) {
    return Math.floor(fs.statSync(path.join(ROOT, name)).mtimeMs / 1000).toString(16);
  }

  refresh() {
    this.version = this.@{fnCamel}("@{icons}");
  }

  address(name) {
    return `${name}?${"@{stamp}" === "icon" ? this.@{fnCamel}(name) : this.version}`;
  }
}

const assets = new Assets();

function shelf(number) {
  if ("@{stamp}" === "page") assets.refresh();
  const parts = [`<!doctype html><title>Shelf ${number}</title><ul>`];
  for (let book = 0; book < @{books}; book++) {
    parts.push(`<li>${AUTHORS[(number + book * 5) % 6]}: volume ${(number * 31 + book) % 900}`);
    for (let mark = 0; mark < @{marks}; mark++) parts.push(`<use href=${assets.address("@{icons}")}#${MARKS[(number + book + mark) % 12]}>`);
  }
  parts.push("</ul>\n");
  return parts.join("");
}

if ("@{stamp}" === "timer") setInterval(() => assets.refresh(), 1000);

http.createServer((request, response) => {
  const found = /^\/shelf\/(\d+)$/.exec(request.url);
  if (!found) {
    response.writeHead(404).end();
    return;
  }
  const page = Buffer.from(shelf(Number(found[1])));
  response.writeHead(200, { "Content-Type": "text/html", "Content-Length": page.length });
  response.end(page);
}).listen(@{port}, "127.0.0.1");
