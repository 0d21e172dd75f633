"""A till: rows for the kitchen, and how long each takes until its ticket is printed."""
import json
import os
import random
import time

table = open("@{table}", "a")
bell = os.open("bell", os.O_RDWR)
tickets = open(os.open("tickets", os.O_RDWR))
chance = random.Random(5)
took, began, number = [], time.monotonic(), 0
while time.monotonic() - began < @{seconds}:
    number += 1
    dishes = ",".join(str(chance.randrange(90)) for _ in range(@{dishes}))
    start = time.monotonic()
    table.write(f"{number};{chance.randrange(1, 40)};{dishes}\n")
    table.flush()
    if @{rings}:
        os.write(bell, b"\n")
    while int(tickets.readline().split()[0]) != number:
        pass
    took.append(time.monotonic() - start)
    time.sleep(@{gap} / 1000 * chance.uniform(0.5, 1.5))
with open("@{report}", "w") as out:
    json.dump({"units": len(took), "seconds": sum(took)}, out)
