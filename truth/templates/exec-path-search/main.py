"""Scans parcels: two threads, each with the scanner's own tool."""
import json
import os
import queue
import subprocess
import threading
import time

def report(units, seconds):
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": seconds}, out)

tasks = queue.Queue(maxsize=4)
lock = threading.Lock()
done = {"units": 0, "busy": 0.0}


def @{fn}(environment, parcel):
    subprocess.run(["@{program}", parcel], env=environment, check=True, stdout=subprocess.DEVNULL)


def work(environment):
    while (n := tasks.get()) is not None:
        start = time.monotonic()
        @{fn}(environment, f"parcel-{n}")
        took = time.monotonic() - start
        with lock:
            done["units"] += 1
            done["busy"] += took


def main():
    with open("@{work}/search.conf") as conf:
        environment = {**os.environ, "PATH": ":".join(conf.read().split())}
    threads = [threading.Thread(target=work, args=(environment,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    began, n = time.monotonic(), 0
    while time.monotonic() - began < @{seconds}:
        tasks.put(n)
        n += 1
        time.sleep(max(0.0, began + n / @{rate} - time.monotonic()))
    for thread in threads:
        tasks.put(None)
    for thread in threads:
        thread.join()
    report(done["units"], done["busy"])


main()
