"""Makes the digests of invoices: workers are forked, and tell their counts by a pipe."""
import json
import os
import time
import zlib

def report(units, seconds, culprit):
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": seconds, "culprit": culprit}, out)


def @{fn}(n):
    text = b"invoice %d of a customer with many lines; " % n * 24
    value = n
    for _ in range(@{work_ms} * 2200):
        value = zlib.adler32(text, value)
    return value


def work(number, began):
    units, busy, culprit = 0, 0.0, 0.0
    while time.monotonic() - began < @{seconds}:
        start, used = time.monotonic(), time.process_time()
        @{fn}(units)
        units += 1
        took = time.monotonic() - start
        busy += took
        culprit += max(0.0, took - (time.process_time() - used))
        due = began + (units + number / @{workers}) * @{work_ms} / 1000 * @{workers} / @{load}
        time.sleep(max(0.0, due - time.monotonic()))
    return units, busy, culprit


def main():
    if @{pin}:
        os.sched_setaffinity(0, {@{cpu}})
    began, pipes = time.monotonic(), []
    for number in range(@{workers}):
        read, write = os.pipe()
        if os.fork() == 0:
            os.write(write, json.dumps(work(number, began)).encode())
            os._exit(0)
        os.close(write)
        pipes.append(read)
    counts = [json.loads(os.read(read, 4096)) for read in pipes]
    for _ in pipes:
        os.wait()
    report(*(sum(column) for column in zip(*counts)))


main()
