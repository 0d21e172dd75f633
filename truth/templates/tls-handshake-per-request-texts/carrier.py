"""The gate of a carrier: a message is a line of JSON, and so is what becomes of it."""
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
        with context.wrap_socket(raw, server_side=True) as line, line.makefile("rb") as messages:
            for message in messages:
                time.sleep(@{delay_ms} / 1000 * random.uniform(0.7, 1.3))
                told = json.loads(message)
                parts = 1 + len(told["text"]) // 153
                line.sendall(json.dumps({"id": told["id"], "state": "accepted", "parts": parts}).encode() + b"\n")
    except (OSError, ValueError, KeyError) as error:
        print("line ended:", error, flush=True)


def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain("@{work}/carrier.pem", "@{work}/carrier.key")
    door = socket.create_server(("127.0.0.1", @{carrier}), backlog=128)
    while True:
        threading.Thread(target=serve, args=(context, door.accept()[0]), daemon=True).start()


main()
