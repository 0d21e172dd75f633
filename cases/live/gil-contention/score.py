"""Scores four shares of a table at a time: score.py threads|processes."""
import concurrent.futures
import sys

ROUNDS = 8


def score(share):
    total = 0
    for number in range(share, 400_000, 4):
        total = (total * 31 + number * number) % 1_000_003
    return total


if __name__ == "__main__":
    how = concurrent.futures.ThreadPoolExecutor if sys.argv[1] == "threads" else concurrent.futures.ProcessPoolExecutor
    with how(4) as pool:
        print(sum(sum(pool.map(score, range(4))) for _ in range(ROUNDS)))
