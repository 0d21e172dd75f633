"""The exchange: holds the lines of all who talk. At its end they are all gone at once."""
import resource
import selectors
import socket
import struct

AT_ONCE = struct.pack("ii", 1, 0)
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
server = socket.create_server(("127.0.0.1", @{port}), backlog=512)
held = []
for number in range(@{lines}):
    phone = socket.create_connection(("127.0.0.1", @{port}))
    line, _ = server.accept()
    for end in (phone, line):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
    held.append((phone, line))
with open("@{work}/exchange.ready", "w") as ready:
    ready.write("ready\n")
waiting = selectors.DefaultSelector()
waiting.register(server, selectors.EVENT_READ)
while True:
    waiting.select()
    server.accept()[0].close()
