"""Knows which vouchers are valid."""
import json
import random
import socket
import ssl
import threading
import time


def serve(context, raw):
    try:
        raw.settimeout(20)
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with context.wrap_socket(raw, server_side=True) as line, line.makefile("rb") as lines:
            while asked := lines.readline():
                close = False
                while (head := lines.readline().strip().lower()):
                    close = close or head == b"connection: close"
                time.sleep(@{delay_ms} / 1000 * random.uniform(0.7, 1.3))
                number = asked.split()[1].rsplit(b"/", 1)[-1].decode()
                body = json.dumps({"voucher": number, "valid": hash(number) % 7 > 0, "text": "v" * @{bytes}}).encode()
                line.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
                if close:
                    break
    except OSError:
        pass


def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain("@{work}/partner.pem", "@{work}/partner.key")
    door = socket.create_server(("127.0.0.1", @{partner}), backlog=128)
    while True:
        threading.Thread(target=serve, args=(context, door.accept()[0]), daemon=True).start()


main()
