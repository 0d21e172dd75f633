import socketserver
import struct


class Booking(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        while len(head := self.rfile.read(2)) == 2:
            text = self.rfile.read(struct.unpack("!H", head)[0])
            self.wfile.write(struct.pack("!HI", 4, sum(text) * 7919 & 0xffffffff))


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True
    request_queue_size = 200


Server(("127.0.0.1", @{house}), Booking).serve_forever()
