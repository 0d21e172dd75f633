"""Tells how many connections are open: `open` is answered by a number."""
import selectors
import socket
import time

ESTABLISHED = "01"


def totals():
    with open("/proc/net/sockstat") as file:
        for line in file:
            if line.startswith("TCP:"):
                return int(line.split()[2])
    return 0


def @{fn}():
    """By the table of connections, without those of the house's own desks."""
    count, own = 0, ("%04X" % @{desk}, "%04X" % @{port})
    with open("/proc/net/tcp") as table:
        next(table)
        for line in table:
            fields = line.split()
            address, port = fields[1].split(":")
            if fields[3] == ESTABLISHED and port not in own and address != "00000000":
                count += 1
    return count


count, known, until = @{fn} if "@{source}" == "table" else totals, 0, 0.0


def answer():
    """A count holds for a while."""
    global known, until
    if time.monotonic() >= until:
        known = count()
        until = time.monotonic() + @{fresh}
    return known


desk = socket.create_server(("127.0.0.1", @{desk}), backlog=64)
ready = selectors.DefaultSelector()
ready.register(desk, selectors.EVENT_READ)
while True:
    for key, _ in ready.select():
        if key.fileobj is desk:
            line, _ = desk.accept()
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            ready.register(line, selectors.EVENT_READ)
            continue
        try:
            asked = key.fileobj.recv(512)
            for _ in range(asked.count(b"\n")):
                key.fileobj.sendall(b"%d\n" % answer())
        except OSError:
            asked = b""
        if not asked:
            ready.unregister(key.fileobj)
            key.fileobj.close()
