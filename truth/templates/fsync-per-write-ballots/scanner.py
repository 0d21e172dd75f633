"""The scanners of the hall: a stack is a line with the number of its box and of its ballots, and then a line for each ballot."""
import random
import time

chance = random.Random(17)
with open("@{work}/@{tray}", "w") as tray:
    due, stack = time.monotonic(), 0
    while True:
        stack += 1
        count = max(1, round(@{stack} * chance.uniform(0.7, 1.3)))
        votes = "".join(f"{chance.randrange(@{lists})};{chance.choice('ABCDEFGH')};{'invalid' if chance.random() < 0.02 else 'valid'}\n" for _ in range(count))
        try:
            tray.write(f"{stack % @{count}} {count}\n{votes}")
            tray.flush()
        except BrokenPipeError:
            break
        due = max(due + 1 / @{rate}, time.monotonic() - 1)
        time.sleep(max(0.0, due - time.monotonic()))
