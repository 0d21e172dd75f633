"""The scanners of a depot: each asks where the parcels in its hands go next."""
import http.client
import json
import random
import ssl
import threading
import time

CONTEXT = ssl.create_default_context(cafile="@{work}/parcels.pem")
HOLD = threading.Lock()
TOTALS = {"units": 0, "seconds": 0.0, "culprit": 0.0}


def scan(number, end):
    chance = random.Random(number)
    door = http.client.HTTPSConnection("127.0.0.1", @{port}, timeout=20, context=CONTEXT)
    while time.monotonic() < end:
        parcels = ",".join(f"P{chance.randrange(10 ** 8):08}" for _ in range(@{parcels}))
        start = time.monotonic()
        if door.sock is None:
            door.connect()
        joined = time.monotonic()
        door.request("POST", "/parcels/next", body=parcels, headers={"Content-Type": "text/plain"})
        answer = door.getresponse()
        told = answer.read()
        now = time.monotonic()
        if answer.status == 200 and told.count(b";") == @{parcels}:
            with HOLD:
                TOTALS["units"] += 1
                TOTALS["seconds"] += now - start
                TOTALS["culprit"] += joined - start
        time.sleep(@{think} / 1000 * chance.uniform(0.6, 1.4))


def main():
    end = time.monotonic() + @{seconds}
    scanners = [threading.Thread(target=scan, args=(number, end)) for number in range(@{clients})]
    for scanner in scanners:
        scanner.start()
    for scanner in scanners:
        scanner.join()
    with open("@{report}", "w") as out:
        json.dump(TOTALS, out)


main()
