"""The counting hall: keeps each ballot that the scanners have read, in the file of its box, and counts the votes of the lists."""
import collections
import json
import os
import time


class Box:
    settling = 0.0

    def __init__(self, number):
        self.fd = os.open(f"@{work}/@{boxes}/box-{number}.votes", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        self.since = self.last = 0

    def @{fn}(self, ballot):
        self.last += 1
        os.write(self.fd, f"{self.last:08d};{ballot};{'.' * @{remark}}\n".encode())
        self.since += 1
        if self.since == @{every}:
            self.settle()

    def settle(self):
        if self.since:
            start = time.perf_counter()
            os.fdatasync(self.fd)
            Box.settling += time.perf_counter() - start
            self.since = 0


def main():
    boxes, votes = [Box(number) for number in range(@{count})], collections.Counter()
    units, busy = 0, 0.0
    begin = settled = time.perf_counter()
    with open("@{work}/@{tray}") as tray:
        while time.perf_counter() - begin < @{seconds} and (head := tray.readline()):
            number, count = map(int, head.split())
            ballots = [tray.readline().strip() for _ in range(count)]
            start = time.perf_counter()
            for ballot in ballots:
                boxes[number].@{fn}(ballot)
                votes[ballot.split(";")[0]] += 1
            if not @{every} and time.perf_counter() - settled > @{period}:
                for box in boxes:
                    box.settle()
                settled = time.perf_counter()
            busy += time.perf_counter() - start
            units += 1
    if not @{every}:
        for box in boxes:
            box.settle()
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": Box.settling}, out)


main()
