"""The doctors whose prescriptions come to the pharmacy."""
import random
import time

chance, number = random.Random(5), 0
try:
    with open("@{work}/prescriptions", "w") as out:
        due = time.monotonic()
        while True:
            number += 1
            drugs = " ".join(str(chance.randrange(@{drugs})) for _ in range(@{items}))
            print(number, drugs, file=out, flush=True)
            due = max(due + 1 / @{rate}, time.monotonic() - 0.2)
            time.sleep(max(0.0, due - time.monotonic()))
except BrokenPipeError:
    pass
