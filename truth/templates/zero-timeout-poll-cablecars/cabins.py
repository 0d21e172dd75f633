"""The cabins of the cable car: each line says how fast, how full, how windy. To everyone who connects."""
import random
import socket
import threading
import time

chance = random.Random(@{cabins})


def tell(line):
    try:
        number = 0
        while True:
            text = f"{chance.randrange(@{cabins})} {number} {chance.uniform(0, 9):.2f} {chance.randrange(40)} "
            text += "w" * chance.randrange(@{bytes} // 2, @{bytes})
            line.sendall(text.encode() + b"\n")
            number += 1
            time.sleep(@{gap_ms} / 1000 * chance.uniform(0.5, 1.5))
    except OSError:
        line.close()


server = socket.create_server(("127.0.0.1", @{port}))
while True:
    line, _ = server.accept()
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    threading.Thread(target=tell, args=(line,), daemon=True).start()
