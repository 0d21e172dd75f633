# The hubs in the meadows: what they log comes together in one pipe.
import os
import random
import time

chance = random.Random(11)
STEP = 0.02
KINDS = ["radio", "clock", "power", "cover", "mesh", "store"]


def line(number):
    kind = "scale" if number % @{share_of_scales} == 0 else chance.choice(KINDS)
    hive = chance.randrange(@{hives})
    sound = ",".join(str(chance.randrange(400)) for _ in range(@{bands}))
    return (
        f"2026-05-{1 + number % 28:02d}T{number % 24:02d}:{number % 60:02d}:{number * 7 % 60:02d}.{number % 1000:03d} hub{number % @{hubs}:02d} INFO  {kind}[{hive:04d}] "
        f"weight={chance.uniform(20, 70):06.3f} inside={chance.uniform(30, 36):.1f} outside={chance.uniform(2, 30):.1f} humidity={chance.randrange(30, 95)} "
        f"sound={sound} battery={chance.uniform(3.3, 4.1):.2f} rssi=-{chance.randrange(40, 99)} uptime={chance.randrange(10**6)} fw=2.{number % 5}.1\n"
    ).encode()


os.mkfifo("@{work}/@{log}.new")
pipe = os.open("@{work}/@{log}.new", os.O_RDWR)
os.rename("@{work}/@{log}.new", "@{work}/@{log}")
lines = [line(number) for number in range(3000)]
each = max(1, round(@{lines} * STEP))
at, due = 0, time.monotonic()
while True:
    chunk = b"".join(lines[(at + i) % len(lines)] for i in range(each))
    at += each
    while chunk:
        chunk = chunk[os.write(pipe, chunk):]
    due = max(due + STEP, time.monotonic() - 0.1)
    time.sleep(max(0.0, due - time.monotonic()))
