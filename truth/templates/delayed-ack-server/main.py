import hashlib
import socketserver
import time


class Card(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = False

    def @{fn}(self, key):
        mark = key
        for _ in range(@{rounds}):
            mark = hashlib.sha256(mark).digest()
        time.sleep(@{settle})
        return (mark.hex().encode() * (1 + @{bytes} // 64))[:@{bytes}]

    def @{fn2}(self, *parts):
        for part in parts:
            self.wfile.write(part)
        self.wfile.flush()

    def handle(self):
        while line := self.rfile.readline():
            card = self.@{fn}(line.strip())
            length = b"%d\n" % len(card)
            if @{split}:
                self.@{fn2}(length, card)
            else:
                self.@{fn2}(length + card)


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64


Server(("127.0.0.1", @{port}), Card).serve_forever()
