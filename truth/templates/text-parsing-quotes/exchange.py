"""An exchange that tells its quotes, as many lines a second as it is told to."""
import random
import socket
import time

chance = random.Random(5)


def line(paper):
    price = f"{chance.uniform(5, 900):.2f}"
    rest = (chance.choice((f"{chance.random() * 1000:.3f}", str(chance.randrange(10**6)), "XETR", "N")) for _ in range(@{columns} - 3))
    return ";".join((f"P{paper:05}", price, str(chance.randrange(1, 5000)), *rest)) + "\n"


SIZE = max(1, min(400, @{lines} // 50))
BLOCKS = ["".join(line(chance.randrange(@{papers})) for _ in range(SIZE)).encode() for _ in range(40)]
door = socket.create_server(("127.0.0.1", @{feed}))
while True:
    client, _ = door.accept()
    due, number = time.monotonic(), 0
    try:
        while True:
            client.sendall(BLOCKS[number % len(BLOCKS)])
            number += 1
            due = max(due + SIZE / @{lines}, time.monotonic() - 0.05)
            time.sleep(max(0.0, due - time.monotonic()))
    except OSError:
        client.close()
