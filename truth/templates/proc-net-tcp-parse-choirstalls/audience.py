"""The listeners who are there already: connections that stay."""
import pathlib
import resource
import socket
import struct
import time

resource.setrlimit(resource.RLIMIT_NOFILE, (20000, max(20000, resource.getrlimit(resource.RLIMIT_NOFILE)[1])))
AT_ONCE = struct.pack("ii", 1, 0)
door = socket.create_server(("127.0.0.1", @{port}), backlog=64)
seats = []
for _ in range(@{held}):
    one = socket.create_connection(("127.0.0.1", @{port}))
    other, _ = door.accept()
    for end in (one, other):
        # Nothing of them is to be left when they go.
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
    seats.append((one, other))
pathlib.Path("@{work}/seated").touch()
while True:
    time.sleep(60)
