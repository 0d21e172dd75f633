# The desk of the bath: appends the cards that it sells and renews to the roll.
import random
import time

began, sold = time.monotonic(), 0
with open("@{work}/@{roll}", "a") as roll:
    while True:
        time.sleep(0.02)
        due = int((time.monotonic() - began) * @{sold})
        for number in range(sold, due):
            card = random.randrange(@{cards}) if number % 3 else @{cards} + number
            kind = random.choice(["day", "evening", "child", "sauna"])
            roll.write(f"{card:08d};{kind};{random.randint(1, 60)};{''.join(random.choices('klmnopqrstuvwxyz', k=@{portrait}))}\n")
        sold = due
        roll.flush()
