"""Plans the concerts of an orchestra: what is played, and what that costs."""
import http.client
import json
import queue
import threading
import time

concerts = queue.Queue(maxsize=4)


class Society:
    """The society's answers about works."""

    def __init__(self):
        self.line, self.took = None, 0.0

    def enter(self):
        self.line = http.client.HTTPConnection("127.0.0.1", @{society}, timeout=10)
        self.line.request("GET", "/session/orchestra-17")
        self.line.getresponse().read()

    def @{fn}(self, work):
        start = time.monotonic()
        if self.line is None:
            self.enter()
        self.line.request("GET", f"/works/{work}", headers={"Accept": "application/json"})
        with self.line.getresponse() as answer:
            told = json.load(answer)
        if "@{line}" == "work":
            self.line.close()
            self.line = None
        self.took += time.monotonic() - start
        return told


class Planner(threading.Thread):
    def __init__(self):
        super().__init__()
        self.society = Society()
        self.units, self.busy, self.cents = 0, 0.0, 0

    def run(self):
        while (number := concerts.get()) is not None:
            start = time.monotonic()
            self.plan(number)
            self.units += 1
            self.busy += time.monotonic() - start

    def plan(self, number):
        programme = []
        for place in range(@{works}):
            work = number * 31 + place * 7
            cost = 0
            if (number * @{works} + place) % @{free} == 0:
                rights = self.society.@{fn}(work)
                cost = rights["cents"]
            programme.append({"work": work, "minutes": 4 + work % 40, "cents": cost})
        programme.sort(key=lambda one: one["minutes"])
        self.cents += sum(one["cents"] for one in programme)
        return json.dumps(programme)


def main():
    planners = [Planner() for _ in range(@{planners})]
    for planner in planners:
        planner.start()
    began, number = time.monotonic(), 0
    while time.monotonic() - began < @{seconds}:
        number += 1
        concerts.put(number)
        time.sleep(max(0.0, began + number / @{rate} - time.monotonic()))
    for _ in planners:
        concerts.put(None)
    for planner in planners:
        planner.join()
    told = {"units": sum(p.units for p in planners), "seconds": sum(p.busy for p in planners), "culprit": sum(p.society.took for p in planners)}
    with open("@{report}", "w") as report:
        json.dump(told, report)


main()
