"""Says which zone a place is in. "LOGIN name secret" comes first: "OK"; then "ZONE x y": "ZONE number"; "QUIT" ends it."""
import hashlib
import socketserver

SALT = b"fences-2024"


def kept(secret):
    return hashlib.pbkdf2_hmac("sha256", secret.encode(), SALT, @{rounds})


ACCOUNTS = {"fleet": kept("north-4711"), "audit": kept("south-0815")}


class Session(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        name = None
        for line in self.rfile:
            verb, *words = line.decode().split()
            if verb == "LOGIN" and ACCOUNTS.get(words[0]) == kept(words[1]):
                name = words[0]
                self.wfile.write(b"OK\n")
            elif verb == "ZONE" and name:
                x, y = map(int, words)
                self.wfile.write(b"ZONE %d\n" % ((x // 250 * 31 + y // 250 * 17) % 900))
            else:
                break


class Service(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 100


Service(("127.0.0.1", @{fences}), Session).serve_forever()
