"""Writes letters from phrases of a catalogue, which translators may change at any time."""
import json
import os
import time

CATALOGUE = "@{work}/@{content}/lang/de/letters/@{catalogue}"


class Phrases:
    def __init__(self):
        self.changed, self.texts, self.looking, self.next = 0.0, {}, 0.0, 0.0

    def @{fn}(self):
        start = time.perf_counter()
        changed = os.stat(CATALOGUE).st_mtime
        if changed != self.changed:
            with open(CATALOGUE) as file:
                self.texts = json.load(file)
            self.changed = changed
        self.looking += time.perf_counter() - start

    def tick(self):
        if time.perf_counter() >= self.next:
            self.@{fn}()
            self.next = time.perf_counter() + @{tick}

    def phrase(self, key):
        if "@{look}" == "phrase":
            self.@{fn}()
        return self.texts[key]


def letter(phrases, number):
    if "@{look}" == "letter":
        phrases.@{fn}()
    lines = [phrases.phrase(f"phrase-{(number + i) % @{phrases} + 1}") for i in range(@{used})]
    return "\n".join(lines).replace("{name}", f"customer {number}")


def main():
    phrases, begin, busy, units, size = Phrases(), time.perf_counter(), 0.0, 0, 0
    phrases.@{fn}()
    while time.perf_counter() - begin < @{seconds}:
        if "@{look}" == "tick":
            phrases.tick()
        start = time.perf_counter()
        size += len(letter(phrases, units))
        units += 1
        busy += time.perf_counter() - start
        time.sleep(max(0.0, begin + units / @{rate} - time.perf_counter()))
    with open("@{report}", "w") as report:
        json.dump({"units": units, "seconds": busy, "culprit": phrases.looking}, report)


main()
