"""Threads that compute: two that call functions, and one that calls none."""
import sys
import threading


def adds(one, other):
    return one + other


def computes():
    total = 0
    while True:
        total = adds(total, 1)
        total = adds(total, -1)


def descends(depth):
    if depth:
        return descends(depth - 1) + descends(depth - 1)
    return 1


def computes_deep():
    while True:
        descends(12)


for work in [computes, computes_deep]:
    threading.Thread(target=work, daemon=True).start()
print("computing", flush=True)
sys.stdin.read()
