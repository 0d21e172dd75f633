"""The clients of the machine: connections that are there and idle."""
import resource
import socket
import struct
import time

COUNT = @{connections}
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
need = 2 * COUNT + 200
if need > soft:
    resource.setrlimit(resource.RLIMIT_NOFILE, (need, max(need, hard)))
server = socket.socket()
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
server.bind(("127.0.0.1", @{port}))
server.listen(1000)
# Closed by a reset: nothing is left of them.
linger = struct.pack("ii", 1, 0)
kept = []
for i in range(COUNT):
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    client.setsockopt(socket.IPPROTO_IP, 24, 1)
    client.bind(("127.@{a}.%d.7" % (i % 50), 0))
    client.connect(("127.0.0.1", @{port}))
    other, _ = server.accept()
    other.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    kept += [client, other]
open("@{work}/crowd.ready", "w").close()
time.sleep(600)
