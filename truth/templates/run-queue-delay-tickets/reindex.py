"""Rebuilds the search index beside the day's work: each process has a part of the words, over and over."""
import os
import random
import time


def words(seed):
    chance = random.Random(seed)
    return ["".join(chance.choices("abcdefghijklmnoprstuvw", k=9)) for _ in range(400)]


def @{fn2}(known, seconds):
    """Sorts the words' pieces into the index, for as long as a part takes."""
    index, end = {}, time.monotonic() + seconds
    while time.monotonic() < end:
        for number, word in enumerate(known):
            for start in range(len(word) - 2):
                index.setdefault(word[start:start + 3], set()).add(number)
    return len(index)


def rebuild(part, main):
    os.setsid()
    known = words(part)
    time.sleep(random.Random(part).random() * @{rest})
    while os.getppid() == main:
        # A long pause follows a short part.
        @{fn2}(known, @{part} if not @{rest} else min(@{part}, 0.02))
        time.sleep(@{rest})


def main():
    here = os.getpid()
    for part in range(max(1, int(os.cpu_count() * @{each}))):
        if not os.fork():
            try:
                rebuild(part, here)
            finally:
                os._exit(0)
    open("@{work}/reindex.up", "w").close()
    while True:
        time.sleep(60)


main()
