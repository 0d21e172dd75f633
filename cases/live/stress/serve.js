// Answers each path with itself: serve.js PORT.
require("http").createServer((request, response) => response.end(request.url)).listen(Number(process.argv[2]), "127.0.0.1");
