"""A service of another team: service.py PORTS DELAY_MS BYTES [WATCH_MS]. Speaks HTTP, and a line in, a line out."""
import random
import socket
import sys
import threading
import time

DELAY, SIZE = float(sys.argv[2]) / 1000, int(sys.argv[3])
WATCH = float(sys.argv[4]) / 1000 if len(sys.argv) > 4 else 1.0


def body():
    return b'{"id":%06d,"text":"%s"}' % (random.randint(100000, 999999), b"x" * SIZE)


def serve(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    lines = connection.makefile("rb")
    try:
        while line := lines.readline():
            length, keep = 0, True
            is_http = b" HTTP/1" in line
            while is_http and (head := lines.readline().strip().lower()):
                if head.startswith(b"content-length:"):
                    length = int(head.split(b":")[1])
                if head == b"connection: close":
                    keep = False
            if length:
                lines.read(length)
            time.sleep((WATCH if b"watch" in line else DELAY) * random.uniform(0.7, 1.3))
            answer = body()
            if is_http:
                answer = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(answer) + answer
            else:
                answer += b"\n"
            connection.sendall(answer)
            if not keep:
                break
    except OSError:
        pass
    lines.close()
    connection.close()


def listen(port):
    server = socket.create_server(("127.0.0.1", port), backlog=512)
    while True:
        threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()


for port in sys.argv[1].split(",")[:-1]:
    threading.Thread(target=listen, args=(int(port),), daemon=True).start()
listen(int(sys.argv[1].split(",")[-1]))
