"""Writes reminders of appointments, in the patient's language, and puts them into the queue of the printer."""
import json
import textwrap
import time

LANGUAGES = ("de", "fr", "pl")


class Texts:
    def __init__(self):
        self.kept, self.spent = {}, 0.0

    def @{fn}(self, language):
        texts = {}
        with open(f"@{work}/@{deep}/{language}.@{words}", encoding="utf-8") as lines:
            for line in lines:
                name, text = line.rstrip().split(" = ", 1)
                texts[name] = text.strip('"')
        return texts

    def of(self, language):
        start = time.perf_counter()
        known = self.kept.get(language)
        if known is None or start - known[0] >= @{good_for}:
            known = self.kept[language] = (start, self.@{fn}(language))
        self.spent += time.perf_counter() - start
        return known[1]


class Printer:
    """What is to be printed, in pages of so many lines."""

    def __init__(self):
        self.pages, self.lines = 0, 0

    def put(self, letter):
        self.lines += letter.count("\n") + 1
        while self.lines > 60:
            self.lines -= 60
            self.pages += 1


def reminder(texts, patient):
    words = texts.of(patient["language"])
    hour, minute = divmod(patient["minutes"], 60)
    greeting = f"{words['text_1']}, {patient['name']}"
    when = f"{words['text_2']} {hour:02}:{minute:02}, {words['text_3']} {patient['room']}"
    note = words[f"text_{4 + patient['room'] % (len(words) - 4)}"]
    return f"{greeting}\n{when}\n{note}"


def patients(batch):
    for i in range(@{letters}):
        yield {
            "name": f"Patient {(batch * 31 + i) % 9000}",
            "language": LANGUAGES[(batch + i) % 3],
            "minutes": 480 + (batch + i * 15) % 540,
            "room": 1 + i % 12,
        }


def main():
    texts, printer = Texts(), Printer()
    units, busy = 0, 0.0
    began = due = time.monotonic()
    while time.monotonic() - began < @{seconds}:
        start = time.monotonic()
        for patient in patients(units):
            printer.put(reminder(texts, patient))
        units += 1
        now = time.monotonic()
        busy += now - start
        due = max(due + 1 / @{rate}, now)
        time.sleep(due - now)
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": texts.spent}, out)


main()
