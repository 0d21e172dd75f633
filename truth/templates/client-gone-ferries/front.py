"""The web server in front, as far as the berths are concerned: it passes wishes on by SCGI, and gives up when its timeout is over."""
import json
import random
import socket
import threading
import time

END = time.monotonic() + @{seconds}
took, gone, lock = [], [0], threading.Lock()


def head(number):
    fields = {"CONTENT_LENGTH": "0", "SCGI": "1", "REQUEST_METHOD": "GET", "REQUEST_URI": f"/berths/{number % @{ships}}/{number}",
              "SERVER_NAME": "ferries", "REMOTE_ADDR": f"192.0.2.{number % 250}"}
    text = "".join(f"{name}\0{value}\0" for name, value in fields.items()).encode()
    return b"%d:%s," % (len(text), text)


def ask(number, patience):
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(patience)
        line.connect("@{work}/@{gate}")
        line.sendall(head(number))
        got = 0
        while part := line.recv(65536):
            got += len(part)
    if got < @{bytes}:
        raise OSError("a part is missing")


def visitor(number):
    chance, n = random.Random(number), number
    while time.monotonic() < END:
        n += @{clients}
        began = time.monotonic()
        try:
            ask(n, 0.001 if chance.random() < @{leave} else @{patience} / 1000)
            with lock:
                took.append(time.monotonic() - began)
        except OSError:
            with lock:
                gone[0] += 1
        time.sleep(@{think} / 1000 * chance.uniform(0.5, 1.5))


threads = [threading.Thread(target=visitor, args=(n,), daemon=True) for n in range(@{clients})]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(@{seconds} + 10)
with open("@{report}", "w") as out:
    json.dump({"units": len(took), "seconds": sum(took), "errors": gone[0]}, out)
