// Delivers forms as they were filled in.
const http = require("http");
const fs = require("fs/promises");
const path = require("path");
const crypto = require("crypto");

const COUNT = @{count};

async function @{fnCamel}(number) {
  const name = "@{doc}-" + String(number % COUNT).padStart(4, "0");
  return fs.readFile(path.join("@{work}/@{volume}", name));
}

function etag(text) {
  let mark = text;
  for (let round = 0; round < @{rounds}; round++) mark = crypto.createHash("sha1").update(mark).digest();
  return mark.toString("hex");
}

const server = http.createServer(async (request, response) => {
  const number = Number(path.basename(request.url));
  if (!Number.isInteger(number)) {
    response.writeHead(404).end();
    return;
  }
  try {
    const text = await @{fnCamel}(number);
    response.writeHead(200, { "Content-Type": "application/pdf", ETag: etag(text) });
    response.end(text);
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
});
server.listen(@{port}, "127.0.0.1");
