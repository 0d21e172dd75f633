"""Hands out the pictures of a survey, as they are."""
import http.server
import os
import shutil


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        try:
            file = open(os.path.join("@{work}", os.path.basename(self.path)), "rb")
        except OSError:
            self.send_error(404)
            return
        with file:
            size = int(os.fstat(file.fileno()).st_size * @{part})
            self.send_response(200)
            self.send_header("Content-Length", str(size))
            self.end_headers()
            {"copy": self.@{fn}, "sendfile": self.pass_on, "marked": self.mark}["@{mode}"](file, size)

    def @{fn}(self, file, size):
        shutil.copyfileobj(file, self.wfile, @{block})

    def pass_on(self, file, size):
        self.wfile.flush()
        self.connection.sendfile(file)

    def mark(self, file, size):
        turned = bytes(value ^ 5 for value in range(256))
        while size > 0 and (block := file.read(min(size, 65536))):
            self.wfile.write(block.translate(turned))
            size -= len(block)

    def log_message(self, *words):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 64


Server(("127.0.0.1", @{port}), Handler).serve_forever()
