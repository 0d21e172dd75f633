"""Short answers to short questions: many workers, one door."""
import os
import selectors
import signal
import socket
import time

known = {"greeting": "welcome"}


def @{fn}(door, selector):
    """The next visitor."""
    if selector:
        selector.select()
    try:
        return door.accept()[0]
    except BlockingIOError:
        return None


def work(door):
    beat = f"alive-{os.getpid()}"
    open(beat, "w").close()
    selector = None
    if not @{alone}:
        selector = selectors.DefaultSelector()
        selector.register(door, selectors.EVENT_READ)
    door.setblocking(bool(@{alone}))
    while True:
        visitor = @{fn}(door, selector)
        # A sign of life, for whoever watches.
        os.utime(beat)
        if visitor is None:
            continue
        visitor.setblocking(True)
        with visitor:
            question = visitor.recv(4096)
            if question:
                visitor.sendall(f"{known['greeting']} {len(question)}\n".encode())


def renew(*_):
    known["greeting"] = f"welcome at {time.strftime('%X')}"


def main():
    signal.signal(signal.SIGUSR1, renew)
    door = socket.create_server(("127.0.0.1", @{port}), backlog=128)
    workers = []
    for _ in range(@{workers}):
        pid = os.fork()
        if not pid:
            work(door)
        workers.append(pid)

    def leave(*_):
        for pid in workers:
            os.kill(pid, signal.SIGTERM)
        os._exit(0)

    signal.signal(signal.SIGTERM, leave)
    while True:
        time.sleep(@{news} or 1000)
        for pid in workers if @{news} else []:
            os.kill(pid, signal.SIGUSR1)


main()
