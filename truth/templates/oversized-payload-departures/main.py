"""Tells the boards at the stops of a bus network what leaves next."""
import socket
import threading

STOPS, RUNS, WHOLE = @{stops}, @{runs}, @{whole}
asked = 0


def day(stop):
    for run in range(RUNS):
        at = 300 + run * 1140 // RUNS
        yield b"%d %02d:%02d bus %d to %s\n" % (stop, at // 60, at % 60, 1 + run % 40, (b"Market", b"Station", b"Airport")[run % 3])


own = [b"".join(day(stop)) for stop in range(STOPS)]
network = b"".join(own)


def @{fn}(client, stop):
    global asked
    asked += 1
    if WHOLE and asked % WHOLE == 0:
        text = network
    else:
        text = b"".join(own[stop].splitlines(True)[:8])
    client.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n" % len(text) + text)


def serve(client):
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with client, client.makefile("rb") as lines:
        try:
            while request := lines.readline():
                while lines.readline().strip():
                    pass
                @{fn}(client, int(request.split()[1].rsplit(b"/", 1)[1]) % STOPS)
        except (OSError, ValueError, IndexError):
            pass


door = socket.create_server(("127.0.0.1", @{port}), backlog=64)
while True:
    threading.Thread(target=serve, args=(door.accept()[0],), daemon=True).start()
