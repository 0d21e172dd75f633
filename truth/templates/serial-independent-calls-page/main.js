// The start page of a shop: a box from each service.
const http = require("http");

const services = [
  ["profile", @{p1}],
  ["basket", @{p2}],
  ["offers", @{p3}],
  ["messages", @{p4}],
  ["points", @{p5}],
  ["stock", @{p6}],
  ["weather", @{p7}],
].slice(0, @{calls});
const agent = new http.Agent({ keepAlive: true, maxSockets: 16 });

function get(port, path) {
  return new Promise((resolve, reject) => {
    http
      .get({ host: "127.0.0.1", port, path, agent, timeout: 5000 }, (answer) => {
        const parts = [];
        answer.on("data", (part) => parts.push(part));
        answer.on("end", () => resolve(JSON.parse(Buffer.concat(parts))));
        answer.on("error", reject);
      })
      .on("error", reject);
  });
}

async function @{fnCamel}(user) {
  const boxes = {};
  if ("@{way}" === "together") {
    await Promise.all(services.map(async ([name, port]) => (boxes[name] = await get(port, `/${name}/${user}`))));
  } else {
    let key = user;
    for (const [name, port] of services) {
      boxes[name] = await get(port, `/${name}/${key}`);
      // A session belongs to a user, a basket to a session.
      if ("@{way}" === "chain") key = boxes[name].id;
    }
  }
  return boxes;
}

function render(boxes) {
  const start = performance.now();
  let page = "";
  while (performance.now() - start < @{effort}) {
    page = "<main>";
    for (const [name, box] of Object.entries(boxes)) page += `<section id="${name}">${box.id} ${box.text.slice(0, 300)}</section>`;
  }
  return page + "</main>";
}

http
  .createServer(async (request, response) => {
    try {
      const page = render(await @{fnCamel}(request.url.split("/")[2]));
      response.writeHead(200, { "Content-Type": "text/html", "Content-Length": Buffer.byteLength(page) });
      response.end(page);
    } catch (error) {
      response.writeHead(502);
      response.end(String(error));
    }
  })
  .listen(@{port}, "127.0.0.1");
