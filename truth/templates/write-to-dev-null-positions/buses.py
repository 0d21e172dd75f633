"""The radio of a fleet: to who connects, a batch of positions each now and then: "BATCH n", and n lines "bus;lat;lon;speed"."""
import random
import socket
import time

chance = random.Random(8)
batches = []
for _ in range(8):
    rows = [f"{chance.randrange(300)};{48 + chance.random():.6f};{11 + chance.random():.6f};{chance.randrange(60)}" for _ in range(@{fixes})]
    batches.append((f"BATCH {len(rows)}\n" + "\n".join(rows) + "\n").encode())
door = socket.create_server(("127.0.0.1", @{port}))
while True:
    gateway, _ = door.accept()
    due, number = time.monotonic(), 0
    try:
        while True:
            gateway.sendall(batches[number % 8])
            number += 1
            due = max(due + 1 / @{rate}, time.monotonic() - 0.5)
            time.sleep(max(0.0, due - time.monotonic()))
    except OSError:
        gateway.close()
