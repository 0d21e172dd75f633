"""A directory: directory.py PORT BYTES. HELLO and AUTH are answered with a line, `GET name` too."""
import hashlib
import socket
import sys
import threading

TEXT = b"x" * int(sys.argv[2])


def serve(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    lines = connection.makefile("rb")
    try:
        while line := lines.readline():
            if line.startswith(b"AUTH"):
                connection.sendall(hashlib.pbkdf2_hmac("sha256", line, b"salt", 300).hex().encode() + b"\n")
            elif line.startswith(b"QUIT"):
                break
            else:
                connection.sendall(line.strip() + TEXT + b"\n")
    except OSError:
        pass
    lines.close()
    connection.close()


server = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=512)
while True:
    threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
