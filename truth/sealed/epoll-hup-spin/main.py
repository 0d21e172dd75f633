"""Draws a chart of what the stations send."""
import json
import selectors
import socket
import time


class Chart:
    def __init__(self):
        self.points, self.units, self.busy, self.culprit = {}, 0, 0.0, 0.0
        self.selector = selectors.DefaultSelector()

    def follow(self, count):
        for number in range(count):
            connection = socket.create_connection(("127.0.0.1", @{port}))
            connection.setblocking(False)
            self.points[number] = []
            self.selector.register(connection, selectors.EVENT_READ, number)

    def add(self, number, value):
        start = time.monotonic()
        points = self.points[number]
        points.append(value)
        del points[:-50]
        while time.monotonic() - start < @{effort} / 1000:
            sorted(points)
        self.units += 1
        self.busy += time.monotonic() - start

    def @{fn}(self, key):
        """Takes what a station has sent."""
        data = key.fileobj.recv(4096)
        for line in data.splitlines():
            name, _, value = line.partition(b" ")
            if name == b"value":
                self.add(key.data, float(value))
        if not data and @{tidy}:
            self.selector.unregister(key.fileobj)
            key.fileobj.close()
        return len(data)

    def run(self, seconds):
        began = time.monotonic()
        while time.monotonic() - began < seconds:
            asked = time.monotonic()
            ready = self.selector.select(1)
            if ready and not sum([self.@{fn}(key) for key, _ in ready]):
                took = 0.0 if @{tidy} else time.monotonic() - asked
                self.culprit += took
                self.busy += took


chart = Chart()
chart.follow(@{stations})
chart.run(@{seconds})
with open("@{report}", "w") as out:
    json.dump({"units": chart.units, "seconds": chart.busy, "culprit": chart.culprit}, out)
