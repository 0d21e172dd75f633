"""Takes in the files that citizens upload. The desk numbers them; clerks, processes of their own, have each scanned and put it into the register."""
import json
import multiprocessing
import socket
import struct
import time

SCANNERS = (@{east}, @{west})
LIMIT = @{limit}
SINCE, BUSY, LOST, UNITS = range(4)


class ScannerGone(Exception):
    """No verdict could be had of this one."""


class Scanner:
    def __init__(self, port):
        self.port, self.line = port, None

    def connect(self):
        if self.line is None:
            self.line = socket.create_connection(("127.0.0.1", self.port), timeout=LIMIT or None)
            self.line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def @{fn}(self, content):
        try:
            self.connect()
            self.line.sendall(b"INSTREAM\n" + struct.pack(">I", len(content)) + content + bytes(4))
            answer = b""
            while not answer.endswith(b"\n"):
                part = self.line.recv(512)
                if not part:
                    raise ConnectionError("closed")
                answer += part
        except OSError as error:
            self.hang_up()
            raise ScannerGone(self.port) from error
        return answer.startswith(b"stream: OK")

    def news(self):
        self.connect()
        self.line.sendall(b"VERSIONS\n")
        return self.line.recv(512)

    def hang_up(self):
        if self.line is not None:
            self.line.close()
        self.line = None


def content_of(number):
    words = b"application for a permit to hold a street market on the second saturday of each month in the lower town ".split()
    text = b" ".join(words[(number + i * i) % len(words)] for i in range(300))
    return (text * (@{bytes} // len(text) + 1))[:@{bytes}]


def clerk(files, account):
    scanners = [Scanner(port) for port in SCANNERS]
    register = {}
    while True:
        number = files.get()
        start = account[SINCE] = time.monotonic()
        content, turn, clean = content_of(number), number, None
        while clean is None:
            try:
                clean = scanners[turn % 2].@{fn}(content)
            except ScannerGone:
                account[LOST] += time.monotonic() - start
                turn += 1
        register[number] = len(content), clean
        account[SINCE] = 0
        account[BUSY] += time.monotonic() - start
        account[UNITS] += 1


def listen():
    while Scanner(SCANNERS[0]).news():
        pass


def main():
    files = multiprocessing.SimpleQueue()
    accounts = [multiprocessing.Array("d", 4, lock=False) for _ in range(@{lanes})]
    children = [multiprocessing.Process(target=clerk, args=(files, account), daemon=True) for account in accounts]
    if @{bulletin}:
        children.append(multiprocessing.Process(target=listen, daemon=True))
    for child in children:
        child.start()
    began, number = time.monotonic(), 0
    while time.monotonic() - began < @{seconds}:
        number += 1
        files.put(number)
        time.sleep(max(0.0, began + number / @{rate} - time.monotonic()))
    end = time.monotonic()
    hanging = sum(end - account[SINCE] for account in accounts if account[SINCE])
    busy, lost, units = (sum(account[field] for account in accounts) for field in (BUSY, LOST, UNITS))
    with open("@{report}", "w") as out:
        json.dump({"units": int(units), "seconds": busy + hanging, "culprit": lost + hanging}, out)
    for child in children:
        child.kill()


if __name__ == "__main__":
    main()
