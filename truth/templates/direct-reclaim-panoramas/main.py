"""Stitches the pictures of two cameras to a panorama, and tells how well they fit."""
import json
import mmap
import os
import time

WIDTH, HEIGHT, OVERLAP = @{width}, @{height}, @{overlap}
WIDE = 2 * WIDTH - OVERLAP
GREY = bytes([16]) * 65536
# Lenses are darker towards the edge.
LIGHT = [bytes(value * (225 - step) // 225 for value in range(256)) for step in range(25)]


class Canvas:
    def __init__(self, points):
        self.points = points

    def stitch(self, pictures):
        for y in range(HEIGHT):
            at, light = y * WIDE * 3, LIGHT[y * len(LIGHT) // HEIGHT]
            left, right = pictures[0].translate(light), pictures[1].translate(light)
            self.points[at:at + len(left)] = left
            self.points[at + len(left) - OVERLAP * 3:at + len(left) + len(right) - OVERLAP * 3] = right
        return sum(abs(a - b) for a, b in zip(left[-OVERLAP * 3:], right))


def @{fn}():
    points = mmap.mmap(-1, WIDE * HEIGHT * 3, flags=mmap.MAP_PRIVATE)
    for _ in range(len(points) // len(GREY)):
        points.write(GREY)
    return Canvas(points)


def main():
    with open("/sys/fs/cgroup/memory/@{slice}/cgroup.procs", "w") as group:
        group.write(str(os.getpid()))
    pictures = [bytes((x * 3 + camera * 7) // 4 % 256 for x in range(WIDTH * 3)) for camera in range(2)]
    units, busy, made, apart = 0, 0.0, 0.0, 0
    began = due = time.monotonic()
    while time.monotonic() - began < @{seconds}:
        start = time.monotonic()
        canvas = @{fn}()
        made += time.monotonic() - start
        apart += canvas.stitch(pictures)
        canvas.points.close()
        units += 1
        busy += time.monotonic() - start
        due = max(due + 1 / @{rate}, time.monotonic())
        time.sleep(max(0.0, due - time.monotonic()))
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": made}, out)


main()
