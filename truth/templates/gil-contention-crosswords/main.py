"""The desk of a puzzle page: answers readers' clues, and has the grids of the next days filled meanwhile."""
import json
import multiprocessing
import random
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

LETTERS = "eeeeeaaaiioonnrrttllssuddgbcmpfhvwykjxqz"
SIZE, TRIES, WORDS = @{size}, @{tries}, @{words}


def lexicon(seed):
    chance = random.Random(seed)
    return ["".join(chance.choice(LETTERS) for _ in range(chance.randrange(3, SIZE))) for _ in range(WORDS)]


def @{fn}(day):
    """Puts words into an empty grid until enough were tried; tells how many letters are crossed."""
    chance, words = random.Random(day), lexicon(day % 5)
    grid, crossed = [[""] * SIZE for _ in range(SIZE)], 0
    for _ in range(TRIES):
        word = words[chance.randrange(WORDS)]
        row, column = chance.randrange(SIZE), chance.randrange(SIZE - len(word) + 1)
        across = chance.random() < 0.5
        places = [(row, column + i) if across else (column + i, row) for i in range(len(word))]
        hits = 0
        for (y, x), letter in zip(places, word):
            if grid[y][x] and grid[y][x] != letter:
                break
            hits += grid[y][x] == letter
        else:
            crossed += hits
            for (y, x), letter in zip(places, word):
                grid[y][x] = letter
    return crossed


class Desk:
    def __init__(self, words):
        self.by_length = {}
        for word in words:
            self.by_length.setdefault(len(word), []).append(word)
        self.units, self.busy, self.waited = 0, 0.0, 0.0

    def matches(self, pattern):
        return [word for word in self.by_length.get(len(pattern), []) if all(p in ("?", w) for p, w in zip(pattern, word))]

    def answer(self, clue, came):
        """A reader waits since the clue came in."""
        cpu = time.thread_time()
        found = {pattern: self.matches(pattern) for pattern in clue}
        text = json.dumps({"clue": clue, "found": found, "best": max(found, key=lambda p: len(found[p]))})
        self.units += 1
        wall = time.monotonic() - came
        self.busy += wall
        self.waited += max(0.0, wall - (time.thread_time() - cpu))
        return text


def clues():
    chance = random.Random(7)
    while True:
        length = chance.randrange(4, SIZE)
        yield ["".join("?" if chance.random() < 0.7 else chance.choice(LETTERS) for _ in range(length)) for _ in range(200)]


def orders(crew, began):
    """In each round a grid from each setter."""
    day = rounds = 0
    while time.monotonic() - began < @{seconds}:
        for grid in [crew.submit(@{fn}, day + n) for n in range(@{setters})]:
            grid.result()
        day, rounds = day + @{setters}, rounds + 1
        time.sleep(max(0.0, began + rounds * @{round} - time.monotonic()))


def main():
    if "@{where}" == "apart":
        crew = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork"))
        crew.submit(len, ()).result()
    else:
        crew = ThreadPoolExecutor(@{setters}, thread_name_prefix="setter")
    desk, began = Desk(lexicon(0)), time.monotonic()
    editor = threading.Thread(target=orders, args=(crew, began), name="editor")
    editor.start()
    for clue in clues():
        desk.answer(clue, min(time.monotonic(), began + desk.units / @{rate}))
        if time.monotonic() - began >= @{seconds}:
            break
        time.sleep(max(0.0, began + desk.units / @{rate} - time.monotonic()))
    editor.join()
    crew.shutdown()
    with open("@{report}", "w") as out:
        json.dump({"units": desk.units, "seconds": desk.busy, "culprit": desk.waited}, out)


if __name__ == "__main__":
    main()
