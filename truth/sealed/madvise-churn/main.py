"""Sorts pages for print in a frame of memory; between the pages the frame is cleared."""
import json
import mmap
import queue
import threading
import time
import zlib

def report(units, seconds, culprit):
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": seconds, "culprit": culprit}, out)

SIZE = @{kb} * 1024
ZERO = b"\0" * 4096


class Frame:
    def __init__(self):
        self.map = mmap.mmap(-1, SIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)

    def @{fn2}(self, page):
        self.map[:] = page

    def @{fn}(self, back):
        if back:
            self.map.madvise(mmap.MADV_DONTNEED)
        else:
            self.map[0:4096] = ZERO


def work(tasks, done):
    frame = Frame()
    page = bytes(range(256)) * (SIZE // 256)
    while (n := tasks.get()) is not None:
        start = time.monotonic()
        frame.@{fn2}(page)
        frame.@{fn}(@{back} and (n + 1) % (@{back} or 1) == 0)
        asked = time.monotonic() - start
        zlib.crc32(page[:SIZE * @{spins} // 300])
        done.put((asked, time.monotonic() - start))


def main():
    tasks, done = queue.Queue(), queue.Queue()
    worker = threading.Thread(target=work, args=(tasks, done))
    worker.start()
    units, busy, culprit = 0, 0.0, 0.0
    began = time.monotonic()
    while time.monotonic() - began < @{seconds}:
        tasks.put(units)
        asked, took = done.get()
        culprit += asked
        busy += took
        units += 1
        time.sleep(max(0.0, began + units / @{rate} - time.monotonic()))
    tasks.put(None)
    worker.join()
    report(units, busy, culprit)


main()
