# The fiscal device of a shop: keeps the receipts, signs each. A command is a line, and so is its answer.
import hashlib
import random
import socketserver
import time


class Device(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        receipt, signed = [], b""
        for line in self.rfile:
            time.sleep(@{delay} / 1000 * random.uniform(0.7, 1.3))
            command, _, rest = line.strip().partition(b" ")
            if command == b"RECEIPT":
                receipt = rest.split(b"|")
                command = b"CLOSE"
            elif command == b"OPEN":
                receipt = []
            if command == b"CLOSE":
                signed = hashlib.sha256(signed + b"|".join(receipt)).digest()
                self.wfile.write(b"OK %s\n" % signed.hex()[:24].encode())
                continue
            receipt.append(rest)
            self.wfile.write(b"OK %d\n" % len(receipt))


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


Server(("127.0.0.1", @{device}), Device).serve_forever()
