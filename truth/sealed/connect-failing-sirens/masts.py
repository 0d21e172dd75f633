"""Radio masts: each sends what it is given, and says so."""
import selectors
import socket

ready = selectors.DefaultSelector()
for port in (@{masts},):
    ready.register(socket.create_server(("127.0.0.1", port), backlog=64), selectors.EVENT_READ, "door")
while True:
    for key, _ in ready.select():
        if key.data == "door":
            line, _ = key.fileobj.accept()
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            ready.register(line, selectors.EVENT_READ, "line")
            continue
        try:
            said = key.fileobj.recv(4096)
            if said:
                key.fileobj.sendall(b"sent\n" * said.count(b"\n"))
        except OSError:
            said = b""
        if not said:
            ready.unregister(key.fileobj)
            key.fileobj.close()
