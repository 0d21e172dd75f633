"""The world of a game: moves the players, beat by beat, and saves those that have changed."""
import json
import logging
import math
import os
import time

logging.basicConfig(filename="@{work}/world.log", level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("world")
THINGS = "axe bow bread cloak coin helmet key lamp map potion ring rope scroll shield sword torch".split()


class Player:
    def __init__(self, number):
        self.number, self.x, self.y = number, number * 7.0 % 100, number * 13.0 % 100
        self.angle, self.gold = number * 0.7, 50
        self.bag = [{"thing": THINGS[(number + i) % len(THINGS)], "worn": i % 9} for i in range(@{things})]

    def move(self, beat, others):
        for step in range(@{effort} * 5):
            self.angle += 0.01 * math.sin(beat + step * 0.3)
            self.x = (self.x + math.cos(self.angle)) % 100
            self.y = (self.y + math.sin(self.angle)) % 100
        near = [one for one in others if one is not self and math.hypot(one.x - self.x, one.y - self.y) < 4]
        for one in near:
            self.gold, one.gold = self.gold + 1, one.gold - 1
        self.bag[beat % len(self.bag)]["worn"] += 1
        return bool(near) or beat % 5 == self.number % 5

    def state(self):
        return {"player": self.number, "x": round(self.x, 3), "y": round(self.y, 3), "gold": self.gold, "bag": self.bag}


class Saves:
    """The folder of saved states: a file there is whole at each moment, even when the power fails."""

    def __init__(self, folder):
        self.folder, self.spent, self.count = folder, 0.0, 0

    def @{fn}(self, name, state):
        start = time.monotonic()
        path = os.path.join(self.folder, name)
        with open(path + ".part", "w") as out:
            json.dump(state, out)
            out.flush()
            os.fsync(out.fileno())
        os.rename(path + ".part", path)
        self.count += 1
        self.spent += time.monotonic() - start


class World:
    def __init__(self):
        self.players = [Player(number) for number in range(@{players})]
        self.saves = Saves("@{work}/@{saves}")
        self.beat, self.last = 0, time.monotonic()

    def step(self):
        self.beat += 1
        for player in self.players:
            player.move(self.beat, self.players)
        if "@{save}" == "each":
            for player in self.players:
                self.saves.@{fn}(f"{player.number}@{ending}", player.state())
        elif "@{save}" == "all":
            self.saves.@{fn}("world@{ending}", [player.state() for player in self.players])
        elif time.monotonic() - self.last > @{gap}:
            left = self.players[self.beat % len(self.players)]
            self.saves.@{fn}(f"{left.number}@{ending}", left.state())
            self.last = time.monotonic()
        if self.beat % 10 == 0:
            log.info("beat %d, %d saved, richest has %d", self.beat, self.saves.count, max(p.gold for p in self.players))


def main():
    world, units, busy = World(), 0, 0.0
    began = due = time.monotonic()
    while time.monotonic() - began < @{seconds}:
        due = max(due + 1 / @{rate}, time.monotonic())
        time.sleep(max(0.0, due - time.monotonic()))
        start = time.monotonic()
        world.step()
        busy += time.monotonic() - start
        units += 1
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": world.saves.spent}, out)


main()
