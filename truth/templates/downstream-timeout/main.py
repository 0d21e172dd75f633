import hashlib
import http.client
import json
import threading
import time

LIMIT = @{limit} / 1000


class Recommendations:
    """Asks the scoring service; without its answer the bestsellers do."""

    def __init__(self):
        self.connection, self.spent = None, 0.0

    def @{fn}(self, customer):
        began = time.monotonic()
        try:
            if self.connection is None:
                self.connection = http.client.HTTPConnection("127.0.0.1", @{back}, timeout=LIMIT)
            self.connection.request("GET", f"/score?customer={customer}")
            return self.connection.getresponse().read()
        except OSError:
            self.connection.close()
            self.connection = None
            return b"bestsellers"
        finally:
            self.spent += time.monotonic() - began


def news():
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", @{back}, timeout=10)
        while True:
            connection.request("GET", f"/watch?wait={LIMIT}")
            connection.getresponse().read()


def main():
    if @{hold}:
        threading.Thread(target=news, daemon=True).start()
    source, units, busy, began = Recommendations(), 0, 0.0, time.monotonic()
    while time.monotonic() - began < @{seconds}:
        start = time.monotonic()
        mark = source.@{fn}(units * 7919 % 10007)
        for _ in range(@{rounds}):
            mark = hashlib.sha1(mark).digest()
        units += 1
        busy += time.monotonic() - start
        time.sleep(max(0.0, began + units / @{pace} - time.monotonic()))
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": source.spent}, out)


main()
