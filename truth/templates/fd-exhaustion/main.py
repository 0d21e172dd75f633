import collections
import resource

import json
import time

now = time.monotonic


def wait_until(due):
    time.sleep(max(0.0, due - now()))


def report(units, busy, culprit):
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": culprit}, out)

resource.setrlimit(resource.RLIMIT_NOFILE, (@{limit}, @{limit}))


class Parts:
    """Appends to the files of the parts."""

    def __init__(self):
        self.open_files, self.refused = collections.deque(), 0

    def @{fn}(self, number):
        try:
            file = open("@{work}/@{folder}/part-%d.txt" % (number % 40), "a")
        except OSError:
            self.refused += 1
            return
        file.write("task %d\n" % number)
        file.flush()
        self.open_files.append(file)
        if @{closes} and len(self.open_files) > @{cap}:
            self.open_files.popleft().close()


def main():
    parts = Parts()
    units, busy = 0, 0.0
    began = now()
    while now() - began < @{seconds}:
        start = now()
        parts.@{fn}(units)
        units += 1
        busy += now() - start
        wait_until(began + units / @{rate})
    while parts.open_files:
        parts.open_files.pop().close()
    print(parts.refused, "refused")
    report(units, busy, 0.0)


main()
