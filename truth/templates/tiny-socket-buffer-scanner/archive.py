"""The archive: takes documents, each with its length in front, and confirms each."""
import socket
import threading
import zlib


def serve(line):
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        with line, line.makefile("rb", 1 << 16) as documents:
            while head := documents.read(8):
                size = int.from_bytes(head[4:], "big")
                body = documents.read(size)
                if len(body) < size:
                    break
                line.sendall(head[:4] + zlib.crc32(body).to_bytes(4, "big"))
    except OSError:
        pass


door = socket.create_server(("0.0.0.0", @{port}), backlog=64)
while True:
    threading.Thread(target=serve, args=(door.accept()[0],), daemon=True).start()
