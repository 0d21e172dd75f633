"""The booking service of a courier. Each of its depots closes for a moment now and then: what comes then is refused with 503."""
import json
import random
import socket
import threading
import time

PERIOD, SHUT = @{period}, @{shut} * @{period}
booked = set()


def is_shut(depot):
    return SHUT > 0 and (time.monotonic() + depot * 0.37) % PERIOD < SHUT


def answer(line, path, body):
    time.sleep(@{taking} / 1000 * random.uniform(0.7, 1.3))
    if line.startswith(b"GET"):
        return 200, {"day": path, "booked": len(booked)}
    wish = json.loads(body)
    if is_shut(wish["depot"]):
        return 503, {"error": "the depot is closed for a moment", "depot": wish["depot"]}
    booked.add(wish["number"])
    return 201, {"number": wish["number"], "van": random.randrange(40)}


def serve(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    lines = connection.makefile("rb")
    try:
        while line := lines.readline():
            length = 0
            while head := lines.readline().strip():
                name, _, value = head.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            status, reply = answer(line, line.split()[1].decode(), lines.read(length))
            text = json.dumps(reply).encode()
            word = {200: b"OK", 201: b"Created", 503: b"Service Unavailable"}[status]
            connection.sendall(b"HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (status, word, len(text), text))
    except OSError:
        pass


listener = socket.create_server(("127.0.0.1", @{port}), backlog=64)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
