"""Makes the pages of reports, one report for each task; so that the container does not grow, memory is given back after a report."""
import collections
import ctypes
import gc
import json
import resource
import threading
import time
import zlib

libc = ctypes.CDLL("libc.so.6")
PIECE = @{piece_kb} * 1024
HEAD = (b"account %06d;balance %09d;name of the owner;street and town of the owner\n" * 40)[:PIECE]


def @{fn}(number):
    # Each page is below what malloc maps by itself.
    pages = []
    for page in range(@{mb} * 1024 // @{piece_kb}):
        pages.append(HEAD * (PIECE // len(HEAD)))
    mark = number
    for _ in range(@{passes}):
        for page in pages:
            mark = zlib.crc32(page[:8192], mark)
    return (b"report %d: %d;" % (number, mark)) * 40


class Memory:
    def __init__(self):
        self.next, self.lock = time.monotonic() + @{every}, threading.Lock()

    def @{fn2}(self):
        with self.lock:
            if time.monotonic() < self.next:
                return
            self.next = time.monotonic() + @{every}
            gc.collect(0)
            libc.malloc_trim(0)


def used():
    """Of the processor time: the kernel's, and all."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_stime, usage.ru_stime + usage.ru_utime


def main():
    memory = Memory()
    # The last summaries are shown to whoever asks.
    summaries = collections.deque(maxlen=200)
    began = time.monotonic()
    units, busy, system, every = 0, 0.0, 0.0, 1e-9
    rate = @{rate} * @{workers}
    while time.monotonic() - began < @{seconds}:
        start, before = time.monotonic(), used()
        summaries.append(@{fn}(units))
        memory.@{fn2}()
        units += 1
        busy += time.monotonic() - start
        # What the kernel does for the report: it takes memory away, and gives it again.
        after = used()
        system += after[0] - before[0]
        every += after[1] - before[1]
        time.sleep(max(0.0, began + units / rate - time.monotonic()))
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": busy * system / every}, out)


main()
