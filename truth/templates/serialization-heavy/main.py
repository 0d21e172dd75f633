import queue
import threading

import json
import time

now = time.monotonic


def wait_until(due):
    time.sleep(max(0.0, due - now()))


def report(units, busy, culprit):
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": culprit}, out)

class Board:
    """The state of all rooms; a thread of its own keeps what has been published."""

    def __init__(self, rooms):
        self.rooms = [{"room": n, "guests": ["guest %d" % i for i in range(@{width})], "rate": n / 3, "clean": True} for n in range(rooms)]
        self.news, self.writing, self.last = queue.Queue(), 0.0, ""
        threading.Thread(target=self.keep, daemon=True).start()

    def keep(self):
        while True:
            self.last = self.news.get()

    def @{fn}(self, room):
        first = 0 if @{used} == len(self.rooms) else min(room, len(self.rooms) - @{used})
        start = now()
        self.news.put(json.dumps(self.rooms[first:first + @{used}], indent=1, sort_keys=True))
        self.writing += now() - start


def main():
    board = Board(@{entries})
    units, busy = 0, 0.0
    began = now()
    while now() - began < @{seconds}:
        start = now()
        room = units * 37 % @{entries}
        board.rooms[room]["clean"] = not board.rooms[room]["clean"]
        board.@{fn}(room)
        units += 1
        busy += now() - start
        wait_until(began + units / @{rate})
    report(units, busy, board.writing)


main()
