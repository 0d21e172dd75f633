"""Records pictures of cameras: length (4 bytes), picture. It leaves the disk to those who watch, now and then."""
import socket
import socketserver
import time


class Camera(socketserver.StreamRequestHandler):
    def handle(self):
        with open("@{work}/@{film}", "r+b" if Server.again else "wb") as film:
            Server.again, count = True, 0
            while head := self.rfile.read(4):
                picture = self.rfile.read(int.from_bytes(head, "big"))
                count += 1
                self.@{fn2}(film, picture, count)

    def @{fn2}(self, film, picture, count):
        if film.tell() > 64 << 20:
            film.seek(0)
        film.write(picture)
        if count % @{every} == 0:
            film.flush()
            time.sleep(@{settle})


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    again = False

    def server_bind(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 128 << 10)
        super().server_bind()


with Server(("127.0.0.1", @{recorder}), Camera) as server:
    server.serve_forever()
