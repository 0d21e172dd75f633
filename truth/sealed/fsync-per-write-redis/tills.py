import json
import random
import socket
import threading
import time

END = time.monotonic() + @{seconds}
took, lock = [], threading.Lock()


def till(number):
    line = socket.create_connection(("127.0.0.1", @{store}))
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    answers, chance = line.makefile("rb"), random.Random(number)
    line.sendall(b'CONFIG SET save ""\r\n')
    answers.readline()
    while time.monotonic() < END:
        words = [b"SET", b"sale:%d:%d" % (number, chance.randint(0, 500)), b"%x" % chance.getrandbits(32) + b"." * @{bytes}]
        began = time.monotonic()
        line.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words))
        answers.readline()
        with lock:
            took.append(time.monotonic() - began)
        time.sleep(@{think} / 1000 * chance.uniform(0.5, 1.5))


threads = [threading.Thread(target=till, args=(n,), daemon=True) for n in range(@{clients})]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(@{seconds} + 10)
with open("@{report}", "w") as out:
    json.dump({"units": len(took), "seconds": sum(took)}, out)
