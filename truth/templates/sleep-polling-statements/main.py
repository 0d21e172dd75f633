"""Month's end at a bank: writes each customer's statement and has gzip pack it for the archive."""
import json
import logging
import os
import pathlib
import random
import resource
import subprocess
import threading
import time

ARCHIVE = pathlib.Path("@{work}/@{archive}")
PARTIES = ["rent", "salary", "groceries", "tram", "telephone", "insurance", "pharmacy", "books"]
now = time.monotonic
log = logging.getLogger("statements")


class Statement:
    def __init__(self, account):
        self.account = account
        chance = random.Random(account)
        self.bookings = [(i % 30 + 1, chance.choice(PARTIES), chance.randrange(-90000, 100000)) for i in range(@{bookings})]

    def text(self):
        balance = self.account * 100 % 70000
        lines = [f"STATEMENT {self.account:010d}", f"carried forward {balance / 100:14.2f}"]
        for day, party, cents in sorted(self.bookings):
            balance += cents
            lines.append(f"{day:02d} {party:<14}{cents / 100:12.2f}{balance / 100:14.2f}")
        return "\n".join(lines) + "\n"


def packing():
    """The seconds of the processor that went into packing."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def @{fn}(packer):
    if "@{wait}" == "told":
        return packer.wait()
    while (status := packer.poll()) is None:
        time.sleep(@{pause} / 1000)
    return status


def archived(account):
    """Packs one statement; how long that was waited for beyond what gzip had to do."""
    name = f"{account % 40:04d}"
    plain, packed = ARCHIVE / f"{name}.txt", ARCHIVE / f"{name}.txt.gz"
    plain.write_text(Statement(account).text())
    with open(plain) as text, open(packed, "wb") as out:
        packer = subprocess.Popen(["gzip", "-9c"], stdin=text, stdout=out)
    asked, spent = now(), packing()
    if status := @{fn}(packer):
        raise RuntimeError(f"gzip of {name}: {status}")
    late = max(0.0, now() - asked - (packing() - spent))
    plain.unlink()
    log.info("%010d: %d bytes", account, packed.stat().st_size)
    return late


def count():
    while True:
        time.sleep(@{tick} / 1000)
        log.info("%d in the archive, %d bytes free", len(os.listdir(ARCHIVE)), os.statvfs(ARCHIVE).f_bavail)


def main():
    logging.basicConfig(filename="@{work}/statements.log", level=logging.INFO, format="%(asctime)s %(message)s")
    ARCHIVE.mkdir(exist_ok=True)
    threading.Thread(target=count, name="counter", daemon=True).start()
    began, units, busy, late = now(), 0, 0.0, 0.0
    while now() - began < @{seconds}:
        start = now()
        late += archived(4_000_000 + units)
        busy += now() - start
        units += 1
        time.sleep(max(0.0, began + units / @{rate} - now()))
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": late}, out)


main()
