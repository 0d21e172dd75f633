"""The dispenser of essences: a dose is a header (number and length, 4 bytes each) and a text; the answer has the same form."""
import socket
import socketserver
import struct

stock = {}


class Mixer(socketserver.StreamRequestHandler):
    def handle(self):
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while len(head := self.rfile.read(8)) == 8:
            number, length = struct.unpack(">II", head)
            essence, drops, *_ = self.rfile.read(length).decode().split(";")
            stock[essence] = stock.get(essence, 100000) - int(drops)
            text = f"{essence} has {stock[essence]} drops left".encode()
            self.wfile.write(struct.pack(">II", number, len(text)) + text)


class Dispenser(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True


Dispenser(("127.0.0.1", @{port}), Mixer).serve_forever()
