# The mail relay of a provider, some way off: SMTP, with pipelining. What comes in one go is answered in one go.
import itertools
import random
import socket
import socketserver
import time

NUMBERS = itertools.count(1)


class Session(socketserver.BaseRequestHandler):
    def setup(self):
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.in_text, self.recipients = False, 0

    def reply(self, line):
        if self.in_text:
            if line != b".":
                return b""
            self.in_text = False
            return b"250 2.0.0 queued as %06X for %d\r\n" % (next(NUMBERS), self.recipients)
        verb = line[:4].upper()
        if verb == b"EHLO":
            return b"250-relay.example\r\n250-PIPELINING\r\n250 8BITMIME\r\n"
        if verb == b"MAIL":
            self.recipients = 0
            return b"250 2.1.0 sender ok\r\n"
        if verb == b"RCPT":
            self.recipients += 1
            return b"250 2.1.5 recipient ok\r\n"
        if verb == b"DATA":
            self.in_text = True
            return b"354 go on\r\n"
        return b"502 5.5.2 what?\r\n"

    def handle(self):
        self.request.sendall(b"220 relay.example ESMTP\r\n")
        rest = b""
        while piece := self.request.recv(65536):
            time.sleep(@{way} / 1000 * random.uniform(0.8, 1.2))
            *lines, rest = (rest + piece).split(b"\r\n")
            if replies := b"".join(self.reply(line) for line in lines):
                self.request.sendall(replies)


class Relay(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


Relay(("127.0.0.1", @{relay}), Session).serve_forever()
