"""Invites the members of a club to its dinners: takes them from the list, has a letter set for each, and puts it into the outbox."""
import json
import logging
import subprocess
import time

logging.basicConfig(filename="@{work}/invitations.log", level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("invitations")
NAMES = "Abbott Barnes Cooper Dixon Elliott Fisher Grant Hughes Ingram Jordan Knight Lambert Mason Norris".split()
DISHES = "asparagus bass chicory dates eel figs grouse halibut iceberg juniper kale lamb mussels nettles".split()
BESIDES = "almonds basil cream dumplings eggs fries garlic honey".split()


class Setter:
    """The script that sets letters, at work."""

    def __init__(self):
        command = ["/usr/bin/ruby", "@{work}/@{tool}"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def letter(self, member):
        self.process.stdin.write(json.dumps(member) + "\n")
        took, text = self.process.stdout.readline().split("\t", 1)
        return float(took), text

    def end(self):
        self.process.stdin.close()
        if self.process.wait():
            raise RuntimeError(f"the script ended with {self.process.returncode}")
        self.process.stdout.close()


class Mailer:
    def __init__(self, box):
        self.box, self.waiting, self.since, self.inner = box, [], time.monotonic(), 0.0
        self.setter = None
        self.tables = {}

    def seat(self, member):
        """At the table of the fewest, with people of the same years."""
        best = min(range(40), key=lambda table: (len(self.tables.get(table, ())), abs(table - member["number"] % 40)))
        self.tables.setdefault(best, []).append(member["number"])
        if sum(map(len, self.tables.values())) > 400:
            self.tables.clear()
        member["table"] = best

    def put(self, setter, member):
        took, letter = setter.letter(member)
        self.inner += took
        self.box.write(letter)
        log.info("member %d, table %d", member["number"], member["table"])

    def @{fn}(self, members):
        setter = Setter()
        for member in members:
            self.put(setter, member)
        setter.end()

    def send(self, member):
        self.seat(member)
        if "@{start}" == "guest":
            self.@{fn}([member])
        elif "@{start}" == "once":
            self.put(self.setter, member)
        else:
            self.waiting.append(member)
            if time.monotonic() - self.since > @{gather}:
                members, self.waiting, self.since = self.waiting, [], time.monotonic()
                self.@{fn}(members)


def member_of(number):
    courses = [{"name": DISHES[(number + i * 3) % len(DISHES)], "beside": BESIDES[(number + i) % len(BESIDES)]} for i in range(@{courses})]
    return {"number": number, "name": NAMES[number % len(NAMES)], "day": 1 + number % 27, "courses": courses}


def main():
    with open("@{work}/@{box}", "w", buffering=1) as box:
        mailer = Mailer(box)
        if "@{start}" == "once":
            mailer.setter = Setter()
            mailer.setter.letter(member_of(0) | {"table": 0})
        units, busy, spent = 0, 0.0, 0.0
        began = due = time.monotonic()
        while time.monotonic() - began < @{seconds}:
            due = max(due + 1 / @{rate}, time.monotonic())
            time.sleep(max(0.0, due - time.monotonic()))
            member, mailer.inner = member_of(units), 0.0
            start = time.monotonic()
            mailer.send(member)
            took = time.monotonic() - start
            busy, spent, units = busy + took, spent + took - mailer.inner, units + 1
        if mailer.setter:
            mailer.setter.end()
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": max(0.0, spent)}, out)


main()
