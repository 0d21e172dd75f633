"""The doors of the house: each takes the plan when it opens, over a new connection."""
import json
import random
import socket
import threading
import time

took, errors, lock = [], [0], threading.Lock()
period, spread, count = @{period_ms} / 1000, @{spread}, @{doors}
began = time.monotonic() + 0.2
end = began + @{seconds}


def door(number):
    turn = 0
    while True:
        due = began + turn * period + spread * period * number / count
        if due >= end:
            return
        time.sleep(max(0.0, due - time.monotonic()))
        start = time.monotonic()
        try:
            with socket.create_connection(("127.0.0.1", @{port}), 10) as ask:
                ask.sendall(b"DOOR %d SHOW %d\n" % (number, turn))
                plan = ask.makefile("rb").read()
            if not plan.endswith(b"END\n"):
                raise OSError("the plan is torn")
            with lock:
                took.append(time.monotonic() - start)
        except OSError:
            with lock:
                errors[0] += 1
        # Who is late goes on with the next show.
        turn = max(turn + 1, int((time.monotonic() - began) / period) + 1)


threads = [threading.Thread(target=door, args=(n,), daemon=True) for n in range(count)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(max(0.0, end + 10 - time.monotonic()))
took.sort()
at = lambda share: took[min(len(took) - 1, int(share * len(took)))] if took else None
with open("@{report}", "w") as out:
    json.dump({"units": len(took), "seconds": sum(took), "errors": errors[0], "p50_s": at(0.5), "p99_s": at(0.99)}, out)
