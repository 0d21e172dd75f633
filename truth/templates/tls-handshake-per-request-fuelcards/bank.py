"""Says whether a fuel card is good for an amount."""
import socketserver
import ssl

CONTEXT = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
CONTEXT.load_cert_chain("@{work}/bank.pem", "@{work}/bank.key")


class Till(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def setup(self):
        self.request = CONTEXT.wrap_socket(self.request, server_side=True)
        super().setup()

    def handle(self):
        try:
            for line in self.rfile:
                word, card, cents = line.split()
                good = int(card[-4:]) % 50 and int(cents) < @{limit} * 100
                self.wfile.write(b"%s %s\n" % (b"GRANTED" if good else b"REFUSED", card))
        except OSError:
            pass


class Bank(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client):
        pass


Bank(("127.0.0.1", @{port}), Till).serve_forever()
