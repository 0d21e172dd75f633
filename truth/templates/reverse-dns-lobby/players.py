"""Players who join, from all over the club's network: each asks for a place, has it, and goes."""
import json
import random
import socket
import threading
import time

end = time.monotonic() + @{seconds}
took, errors = [], []


def player(start):
    chance, number = random.Random(start), start
    while time.monotonic() < end:
        time.sleep(@{think} / 1000 * chance.uniform(0.5, 1.5))
        home = f"127.{chance.randint(100, 120)}.{chance.randint(1, 200)}.{chance.randint(1, 200)}"
        began = time.monotonic()
        try:
            with socket.create_connection(("127.0.0.1", @{port}), 10, (home, 0)) as line:
                line.sendall(b"join %d\n" % number)
                if not line.makefile("rb").readline():
                    raise OSError("no place")
            took.append(time.monotonic() - began)
        except OSError as error:
            errors.append(error)
        number += @{clients}


players = [threading.Thread(target=player, args=(number,)) for number in range(@{clients})]
for thread in players:
    thread.start()
for thread in players:
    thread.join()
with open("@{report}", "w") as report:
    json.dump({"units": len(took), "seconds": sum(took), "errors": len(errors)}, report)
