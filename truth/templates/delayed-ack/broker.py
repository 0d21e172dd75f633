"""Takes messages: broker.py PORT DELAY_MS. A line `PUT topic LENGTH`, then the message; answers `OK n`."""
import socket
import sys
import threading
import time


def serve(connection):
    lines = connection.makefile("rb")
    count = 0
    try:
        while head := lines.readline():
            lines.read(int(head.split()[-1]))
            count += 1
            if float(sys.argv[2]):
                time.sleep(float(sys.argv[2]) / 1000)
            connection.sendall(b"OK %d\n" % count)
    except OSError:
        pass


server = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=64)
while True:
    threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
