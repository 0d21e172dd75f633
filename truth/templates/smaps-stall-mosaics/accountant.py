"""Keeps account of the memory that the composer takes: a line of each look goes to the tenant's bill."""
import time

pid = open("@{work}/composer.pid").read().strip()
highest = looks = total = 0


def by_pages(text):
    return int(text.split()[1]) * 4


def by_mappings(text):
    return sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))


def @{fn2}():
    with open(f"/proc/{pid}/@{file}") as file:
        text = file.read()
    return by_pages(text) if "@{file}" == "statm" else by_mappings(text)


began = written = time.monotonic()
while True:
    try:
        kilobytes = @{fn2}()
    except OSError:
        time.sleep(0.05)
        continue
    highest, looks, total = max(highest, kilobytes), looks + 1, total + kilobytes
    if time.monotonic() - written > 1:
        written = time.monotonic()
        with open("@{work}/bill.csv", "a") as bill:
            bill.write(f"{written - began:.0f};{kilobytes};{highest};{total // looks}\n")
    time.sleep(@{rest} / 1000)
