import socket
import threading


def serve(line):
    with line:
        for text in line.makefile("rb"):
            line.sendall(b"taken %d\n" % (len(text) * 31 % 997))


place = socket.create_server(("127.0.0.1", @{ring}))
while True:
    threading.Thread(target=serve, args=(place.accept()[0],), daemon=True).start()
