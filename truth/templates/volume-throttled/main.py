"""Answers questions about old records: reads the pages that hold them, past the cache, which others need more."""
import json
import mmap
import os
import queue
import random
import threading
import time

PAGE = 4096
questions, results, totals = queue.Queue(1), queue.Queue(), [0, 0.0, 0.0]


def @{fn}(file, pages, page):
    start = time.monotonic()
    for number in pages:
        os.preadv(file, [page], number * PAGE)
    return time.monotonic() - start


def reader():
    file = os.open("@{work}/@{data}", os.O_RDONLY | os.O_DIRECT)
    page = mmap.mmap(-1, PAGE)
    while pages := questions.get():
        start = time.monotonic()
        took = @{fn}(file, pages, page)
        results.put((time.monotonic() - start, took))


def main():
    with open("/sys/fs/cgroup/blkio/@{slice}/cgroup.procs", "w") as group:
        group.write(str(os.getpid()))
    size, chance = os.path.getsize("@{work}/@{data}") // PAGE, random.Random(5)
    readers = [threading.Thread(target=reader, name="reader") for _ in range(@{threads})]
    for thread in readers:
        thread.start()
    end = due = time.monotonic()
    end += @{seconds}
    while time.monotonic() < end:
        questions.put([chance.randrange(size) for _ in range(@{reads})])
        due = max(due + 1 / @{per_s}, time.monotonic())
        time.sleep(max(0.0, due - time.monotonic()))
    for _ in readers:
        questions.put(None)
    for thread in readers:
        thread.join()
    while not results.empty():
        busy, took = results.get()
        totals[0] += 1
        totals[1] += busy
        totals[2] += took
    with open("@{report}", "w") as out:
        json.dump(dict(zip(("units", "seconds", "culprit"), totals)), out)


main()
