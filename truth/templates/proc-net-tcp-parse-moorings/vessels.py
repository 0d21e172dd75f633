"""The vessels that are in the harbour already, each with its link to the radio station; both ends are kept here."""
import resource
import socket
import struct
import time

WANTED = @{links}
resource.setrlimit(resource.RLIMIT_NOFILE, (2 * WANTED + 100, max(2 * WANTED + 100, resource.getrlimit(resource.RLIMIT_NOFILE)[1])))
# No end waits after its close.
AT_ONCE = struct.pack("ii", 1, 0)
station = socket.create_server(("127.0.0.1", @{radio}), backlog=64)
links = []
for _ in range(WANTED):
    vessel = socket.create_connection(("127.0.0.1", @{radio}))
    end, _ = station.accept()
    for each in (vessel, end):
        each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
        links.append(each)
open("@{work}/vessels.there", "w").close()
while True:
    time.sleep(60)
