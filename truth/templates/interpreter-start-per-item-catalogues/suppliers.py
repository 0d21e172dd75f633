"""Writes the lines of suppliers as they come."""
import random
import time

chance = random.Random(3)
words = "blue bolt brass cable clamp drill glue hinge lamp nail plug red screw steel tape valve wood".split()
try:
    with open("@{work}/@{inbox}", "w", buffering=1) as inbox:
        due = time.monotonic()
        for number in range(1, 10**7):
            text = " ".join(chance.choices(words, k=120))[:@{letters}]
            line = f"{number};{text[:24]};{chance.randrange(100, 90000) / 100};{chance.choice(['pc', 'dz', 'gr'])};{text}\n"
            due = max(due + 1 / @{rate}, time.monotonic())
            time.sleep(max(0.0, due - time.monotonic()))
            inbox.write(line)
except BrokenPipeError:
    pass
time.sleep(1000)
