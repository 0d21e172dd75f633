"""The tide gauges along the coast: each has a clock, and calls the station when a period is over."""
import json
import math
import socket
import threading
import time

took, errors, lock = [], [0], threading.Lock()


def call(gauge, tick):
    level = 300 + 200 * math.sin(tick / 5 + gauge)
    start = time.monotonic()
    try:
        with socket.create_connection(("127.0.0.1", @{port}), 8) as station:
            station.sendall(f"gauge{gauge} {level:.2f}\n".encode())
            answer = station.makefile().readline()
    except OSError:
        answer = ""
    with lock:
        if answer:
            took.append(time.monotonic() - start)
        else:
            errors[0] += 1


def main():
    began, tick = time.monotonic(), 0
    while time.monotonic() - began < @{seconds}:
        calls = [threading.Thread(target=call, args=(gauge, tick), daemon=True) for gauge in range(@{gauges})]
        for one in calls:
            one.start()
            if @{spread}:
                time.sleep(@{spread} / 1000)
        for one in calls:
            one.join()
        tick += 1
        time.sleep(@{period})
    with open("@{report}", "w") as out:
        json.dump({"units": len(took), "seconds": sum(took), "errors": errors[0]}, out)


main()
