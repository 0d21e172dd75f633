"""Receives uploads of scanners into a queue of files; what was received is dumped, so that nothing is taken in twice after a fall."""
import collections
import hashlib
import json
import os
import threading
import time

over = threading.Event()
lock = threading.Lock()
totals = {"units": 0, "seconds": 0.0, "culprit": 0.0}


class Queue:
    def __init__(self, which):
        self.folder = f"@{work}/@{volume}/@{queue}/{which}"
        os.mkdir(self.folder)
        self.kept, self.number = collections.deque(), 0

    def put(self, text):
        self.number += 1
        path = f"{self.folder}/{self.number:06}"
        with open(path + ".part", "wb") as out:
            out.write(text)
        os.rename(path + ".part", path)
        self.kept.append(path)
        if len(self.kept) > 20:
            os.unlink(self.kept.popleft())


def receive(which):
    queue, text = Queue(which), os.urandom(@{bytes})
    due = time.monotonic() + which / 100
    while not over.is_set():
        time.sleep(max(0.0, due - time.monotonic()))
        start = time.monotonic()
        mark = text
        while time.monotonic() - start < @{effort} / 1000:
            mark = hashlib.sha256(mark).digest()
        before = time.monotonic()
        queue.put(mark[:16] + text)
        end = time.monotonic()
        with lock:
            totals["units"] += 1
            totals["seconds"] += end - start
            totals["culprit"] += end - before
        due = max(due + 1 / @{rate}, end)


def @{fn}(known):
    os.makedirs("@{work}/@{dumps}", exist_ok=True)
    path = "@{work}/@{dumps}/@{dump}"
    with open(path + ".new", "wb") as out:
        for at in range(0, len(known), 1 << 18):
            out.write(known[at:at + (1 << 18)])
        out.flush()
        os.fsync(out.fileno())
    os.replace(path + ".new", path)


def seal():
    folder = os.open("@{work}/@{volume}/@{queue}", os.O_RDONLY)
    while not over.wait(@{beat}):
        # Their names are on the disk then: all that came since the last time, at once.
        os.fsync(folder)


def keep():
    known = memoryview(os.urandom(@{kb} * 1024))
    while not over.wait(@{gap}):
        @{fn}(known)


def main():
    os.makedirs("@{work}/@{volume}/@{queue}")
    threads = [threading.Thread(target=receive, args=(which,), name=f"scanner-{which}") for which in range(@{intakes})]
    threads.append(threading.Thread(target=keep, name="dump"))
    threads.append(threading.Thread(target=seal, name="seal"))
    for thread in threads:
        thread.start()
    time.sleep(@{seconds})
    over.set()
    for thread in threads:
        thread.join()
    with open("@{report}", "w") as out:
        json.dump(totals, out)


main()
