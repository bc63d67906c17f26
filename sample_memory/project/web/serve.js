"use strict";

const http = require("http");
const fs = require("fs");
const path = require("path");

const flag = process.argv.indexOf("--port");
const port = flag > 0 ? Number(process.argv[flag + 1]) : 8040;
const kinds = { ".html": "text/html", ".js": "text/javascript", ".json": "application/json" };

http
  .createServer((request, reply) => {
    const name = request.url === "/" ? "index.html" : path.basename(request.url);
    const file = path.join(__dirname, name);
    if (!fs.existsSync(file)) return reply.writeHead(404).end("not found");
    reply.writeHead(200, { "content-type": kinds[path.extname(name)] || "text/plain" });
    reply.end(fs.readFileSync(file));
  })
  .listen(port, () => console.log(`tide curve on http://localhost:${port}`));
