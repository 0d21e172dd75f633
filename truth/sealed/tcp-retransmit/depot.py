"""Takes lines, answers each: depot.py PORT."""
import socket
import sys
import threading


def serve(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    lines, count = connection.makefile("rb"), 0
    try:
        while lines.readline():
            count += 1
            connection.sendall(b"stored %d\n" % count)
    except OSError:
        pass


server = socket.create_server(("0.0.0.0", int(sys.argv[1])), backlog=64)
while True:
    threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
