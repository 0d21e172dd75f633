"""Three relays that take mails. The third is a machine that loses its power, again and again: what it was asked last is never answered, nor is
the connection ended."""
import random
import socket
import threading
import time

TCP_REPAIR = 19
GAP = @{seconds} / (@{mailers} + 1)
due, lock = [time.monotonic() + 0.6 * GAP], threading.Lock()


def goes_away():
    with lock:
        if not @{lost} or time.monotonic() < due[0]:
            return False
        due[0] = time.monotonic() + GAP
        return True


def serve(client, may_go):
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    lines = client.makefile("rb")
    try:
        for line in lines:
            if may_go and goes_away():
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
                time.sleep(0.25)
                client.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, 1)
                break
            time.sleep(@{taking} / 1000 * random.uniform(0.7, 1.3))
            client.sendall(b"250 queued %d\n" % len(line))
    except OSError:
        pass
    lines.close()
    client.close()


def listen(port, may_go):
    door = socket.create_server(("127.0.0.1", port), backlog=100)
    while True:
        threading.Thread(target=serve, args=(door.accept()[0], may_go), daemon=True).start()


for port in (@{first}, @{second}):
    threading.Thread(target=listen, args=(port, False), daemon=True).start()
listen(@{third}, True)
