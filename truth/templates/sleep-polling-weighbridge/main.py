"""Weighs the lorries of a quarry, axle by axle; each bridge has a thread and a line to its scale."""
import json
import select
import socket
import threading
import time

GOODS = (1190, 1450, 870, 2210)


class Scale:
    def __init__(self):
        self.line = socket.create_connection(("127.0.0.1", @{scales}))
        self.line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.line.setblocking(False)
        self.arrivals = select.poll()
        self.arrivals.register(self.line, select.POLLIN)
        self.waited = 0.0

    def weigh(self, axle):
        self.line.send(b"S %d\r\n" % axle)
        stable, _, weight, unit = self.@{fn}().split()
        if (stable, unit) != (b"S", b"kg"):
            raise ValueError(stable)
        return int(weight)

    def @{fn}(self):
        """What the scale says, to the end of the line."""
        text = b""
        while not text.endswith(b"\n"):
            try:
                piece = self.line.recv(64)
            except BlockingIOError:
                start = time.monotonic()
                if "@{wait}" == "look":
                    time.sleep(@{pause} / 1000)
                else:
                    self.arrivals.poll(5000)
                self.waited += time.monotonic() - start
                continue
            if not piece:
                raise ConnectionError("the scale is gone")
            text += piece
        return text


class Bridge(threading.Thread):
    def __init__(self, number, begun):
        super().__init__(name=f"bridge-{number}")
        self.scale, self.begun = Scale(), begun
        self.units, self.busy, self.tons, self.cents = 0, 0.0, 0, 0

    def lorry(self, number):
        load = sum(self.scale.weigh(number * 5 + axle) for axle in range(@{axles})) - 9800
        self.cents += max(load * GOODS[(number + zone) % 4] // 100000 - zone * 3 for zone in range(@{tariffs}))
        self.tons += load // 1000

    def run(self):
        while time.monotonic() - self.begun < @{seconds}:
            start = time.monotonic()
            self.lorry(self.units)
            self.units += 1
            self.busy += time.monotonic() - start
            time.sleep(max(0.0, self.begun + self.units / @{rate} - time.monotonic()))


class Board(threading.Thread):
    """What the office sees of the day."""

    def __init__(self, bridges):
        super().__init__(name="board", daemon=True)
        self.bridges, self.closing, self.tons = bridges, threading.Event(), 0

    def run(self):
        while not self.closing.wait(@{board} / 1000):
            self.tons = sum(bridge.tons for bridge in self.bridges)


def main():
    begun = time.monotonic()
    bridges = [Bridge(number, begun) for number in range(@{bridges})]
    board = Board(bridges)
    for thread in (board, *bridges):
        thread.start()
    for bridge in bridges:
        bridge.join()
    board.closing.set()
    units, busy = sum(bridge.units for bridge in bridges), sum(bridge.busy for bridge in bridges)
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": sum(bridge.scale.waited for bridge in bridges)}, out)


main()
