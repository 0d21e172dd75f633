import socketserver
import sys


class Desk(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        for line in self.rfile:
            night = sum(line)
            free = ",".join(f"dance{n}:{(night * 31 + n * 17) % 60}" for n in range(int(sys.argv[2])))
            self.wfile.write(f"{line.split()[-1].decode()} {free}\n".encode())


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128


Server(("127.0.0.1", int(sys.argv[1])), Desk).serve_forever()
