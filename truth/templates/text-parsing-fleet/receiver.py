# Receives the positions of vehicles by radio; who wants them reads them from a pipe.
import random
import time

BLOCK = max(1, min(120, @{lines} // 100))
CHANCE = random.Random(4)


def line():
    at = CHANCE.randrange(86_400_000)
    clock = f"{at // 3_600_000:02}:{at // 60_000 % 60:02}:{at // 1000 % 60:02}.{at % 1000:03}"
    place = f"lat={48 + CHANCE.random():8.5f} lon={11 + CHANCE.random():09.5f}"
    state = f"speed={CHANCE.random() * 90:.1f} heading={CHANCE.randrange(360)} fuel={CHANCE.randrange(100)} temp={60 + CHANCE.random() * 40:.2f}"
    work = f"door={CHANCE.choice(['open', 'closed'])} driver=d{CHANCE.randrange(9999)} route={CHANCE.randrange(80)} load={CHANCE.randrange(18000)}"
    return f"2026-11-26T{clock}Z vehicle={CHANCE.randrange(@{vehicles}):04} {place} {state} {work} note={'on_the_way_'[CHANCE.randrange(9):] * 9:.@{note}}\n"


blocks = ["".join(line() for _ in range(BLOCK)).encode() for _ in range(100)]
with open("@{work}/@{feed}", "wb", buffering=0) as pipe:
    began = time.monotonic()
    while True:
        for block in blocks:
            try:
                pipe.write(block)
            except BrokenPipeError:
                raise SystemExit from None
            began += BLOCK / @{lines}
            rest = began - time.monotonic()
            if rest > 0.003:
                time.sleep(rest)
            elif rest < -0.2:
                began = time.monotonic()
