"""An MQTT broker (3.1.1) as far as publishers need it: CONNECT with a user and a password, PUBLISH with QoS 1, PINGREQ, DISCONNECT."""
import hashlib
import hmac
import socketserver
import threading

SALT = b"slopes-2024"
PASSWORD = hashlib.pbkdf2_hmac("sha256", b"riesling", SALT, @{rounds})
retained, guard = {}, threading.Lock()


class Publisher(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def packet(self):
        head = self.rfile.read(1)
        if not head:
            raise EOFError
        length, shift = 0, 0
        while True:
            byte = self.rfile.read(1)[0]
            length |= (byte & 127) << shift
            shift += 7
            if not byte & 128:
                return head[0], self.rfile.read(length)

    @staticmethod
    def texts(body):
        at = 0
        while at + 2 <= len(body):
            size = int.from_bytes(body[at : at + 2], "big")
            yield body[at + 2 : at + 2 + size]
            at += 2 + size

    def handle(self):
        try:
            while True:
                kind, body = self.packet()
                if kind == 0x10:
                    _client, _user, password = self.texts(body[10:])
                    right = hmac.compare_digest(hashlib.pbkdf2_hmac("sha256", password, SALT, @{rounds}), PASSWORD)
                    self.wfile.write(bytes([0x20, 2, 0, 0 if right else 4]))
                elif kind & 0xF0 == 0x30:
                    size = int.from_bytes(body[:2], "big")
                    with guard:
                        retained[body[2 : 2 + size]] = body[4 + size :]
                    self.wfile.write(b"\x40\x02" + body[2 + size : 4 + size])
                elif kind == 0xC0:
                    self.wfile.write(b"\xd0\x00")
                elif kind == 0xE0:
                    return
        except (EOFError, OSError, IndexError):
            pass


class Broker(socketserver.ThreadingTCPServer):
    allow_reuse_address, daemon_threads, request_queue_size = True, True, 100


with Broker(("127.0.0.1", @{broker}), Publisher) as broker:
    broker.serve_forever()
