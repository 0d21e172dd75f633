"""A store of documents: store.py PORT SIZE. `READ name from length` gives a line with the length, and so many bytes. HTTP: Range, or lines=A-B."""
import random
import re
import socket
import sys
import threading

SIZE = int(sys.argv[2])
TEXT = (b"".join(b"%07d\n" % random.randint(0, 9999999) for _ in range(SIZE // 8 + 1)))[:SIZE]


def serve(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    lines = connection.makefile("rb")
    try:
        while line := lines.readline():
            if line.startswith(b"READ"):
                _, _, start, length = line.split()
                part = TEXT[int(start):int(start) + int(length)]
                connection.sendall(b"%d\n" % len(part) + part)
                continue
            start, end = 0, SIZE - 1
            while head := lines.readline().strip():
                if found := re.match(rb"(?i)range: bytes=(\d+)-(\d+)", head):
                    start, end = int(found[1]), int(found[2])
            part = TEXT[start:end + 1]
            connection.sendall(b"HTTP/1.1 206 Partial\r\nContent-Length: %d\r\n\r\n" % len(part) + part)
    except OSError:
        pass


server = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=64)
while True:
    threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
