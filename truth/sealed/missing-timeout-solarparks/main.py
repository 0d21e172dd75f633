"""Reads the inverters of solar parks: readers, a process each, take the next inverter from a common queue and ask for its registers."""
import json
import multiprocessing
import socket
import struct
import time

PORTS = [@{quarry}, @{meadow}, @{heath}]
LIMIT = @{limit} or None
COUNT = @{registers}


class Park:
    def __init__(self, port):
        self.line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.line.settimeout(LIMIT)
        self.line.connect(("127.0.0.1", port))

    def @{fn}(self, mark, inverter):
        """The registers of an inverter; none if the park says nothing."""
        question = struct.pack("!3H2B2H", mark & 0xFFFF, 0, 6, inverter, 4, 0, COUNT)
        for _ in range(3):
            try:
                self.line.send(question)
                answer = self.line.recv(400)
            except OSError:
                continue
            if answer[:2] == question[:2]:
                return struct.unpack_from(f"!{answer[8] // 2}H", answer, 9)
        return ()


class Reader(multiprocessing.Process):
    def __init__(self, tasks):
        super().__init__(daemon=True)
        self.tasks = tasks
        # Units, the time for them, of that what was lost, and since when it is at the present one.
        self.account = multiprocessing.RawArray("d", 4)

    def run(self):
        parks = [Park(port) for port in PORTS]
        account, kilowatts = self.account, 0.0
        while True:
            number = self.tasks.get()
            start = account[3] = time.monotonic()
            values = parks[number % 3].@{fn}(number, number // 3 % 200 + 1)
            asked = time.monotonic() - start
            if LIMIT and asked >= LIMIT:
                account[2] += asked
            kilowatts += sum(volts / 100 * amperes / 1e6 for volts, amperes in zip(values[::2], values[1::2]))
            account[3] = 0
            account[0] += 1
            account[1] += time.monotonic() - start

    def result(self):
        units, busy, lost, since = self.account
        hanging = time.monotonic() - since if since else 0.0
        return units, busy + hanging, lost + hanging


def alarms():
    """Inverters call by themselves when they burn."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
        door.bind(("127.0.0.1", @{alarm}))
        while True:
            print("alarm:", door.recv(200))


def main():
    tasks = multiprocessing.SimpleQueue()
    readers = [Reader(tasks) for _ in range(@{readers})]
    for reader in readers:
        reader.start()
    if @{alarms}:
        multiprocessing.Process(target=alarms, daemon=True).start()
    number, began = 0, time.monotonic()
    while time.monotonic() - began < @{seconds}:
        tasks.put(number)
        number += 1
        time.sleep(max(0.0, began + number / @{rate} - time.monotonic()))
    units, busy, lost = (sum(column) for column in zip(*(reader.result() for reader in readers)))
    with open("@{report}", "w") as out:
        json.dump({"units": int(units), "seconds": busy, "culprit": lost}, out)


if __name__ == "__main__":
    main()
