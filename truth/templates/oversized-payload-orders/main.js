// Orders of customers, for their phones and for the office.
const fs = require("fs");
const http = require("http");

const note = "left at the door ".repeat(40);
const orders = [];
for (let i = 0; i < @{rows}; i++) {
  const head = `{"id":${100000 + i},"state":"delivered","cents":${(i * 37) % 9000},"note":"`;
  orders.push(Buffer.from(head + note.slice(0, Math.max(1, @{row} - head.length - 3)) + '"},'));
}

function greet(customer) {
  const start = performance.now();
  let sum = customer;
  while (performance.now() - start < @{render}) sum = (sum * 31 + 7) % 1000003;
  return sum;
}

function @{fnCamel}(customer) {
  const parts = [Buffer.from(`{"customer":${customer},"check":${greet(customer)},"orders":[`), ...orders.slice(0, @{limit})];
  const last = parts.pop();
  parts.push(last.subarray(0, last.length - 1), Buffer.from("]}"));
  return Buffer.concat(parts);
}

http
  .createServer((request, response) => {
    const [, kind, which] = request.url.split("/");
    if (kind === "files") {
      const path = "@{work}/orders.csv";
      response.writeHead(200, {
        "Content-Type": "text/csv",
        "Content-Disposition": "attachment; filename=orders.csv",
        "Content-Length": fs.statSync(path).size,
      });
      fs.createReadStream(path).pipe(response);
      return;
    }
    const body = @{fnCamel}(Number(which));
    response.writeHead(200, { "Content-Type": "application/json", "Content-Length": body.length });
    response.end(body);
  })
  .listen(@{port}, "0.0.0.0");
