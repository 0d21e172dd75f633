"""Mails the singers of an association of choirs when they rehearse next. Each choir has a thread."""
import json
import smtplib
import threading
import time
from email.message import EmailMessage


class Choir:
    def __init__(self, number):
        self.number, self.units, self.busy, self.calling = number, 0, 0.0, 0.0
        self.dialogue, self.letters = None, 0

    def letter(self, singer):
        dates = [f"  {i + 1}. week: {('Monday', 'Tuesday', 'Thursday')[(singer + i) % 3]}, {18 + singer * i % 3} o'clock" for i in range(@{dates})]
        message = EmailMessage()
        message["Subject"] = f"Rehearsals of choir {self.number}"
        message["From"], message["To"] = "rehearsals@singers.test", f"singer{singer}@singers.test"
        message.set_content("Dear singer,\n" + "\n".join(dates) + "\n")
        return message

    def call(self):
        start = time.perf_counter()
        self.dialogue = smtplib.SMTP("127.0.0.1", @{port}, local_hostname="choirs.singers.test")
        self.dialogue.ehlo()
        self.letters = 0
        self.calling += time.perf_counter() - start

    def leave(self):
        start = time.perf_counter()
        self.dialogue.quit()
        self.dialogue = None
        self.calling += time.perf_counter() - start

    def @{fn}(self, message):
        if self.dialogue is None:
            self.call()
        self.dialogue.send_message(message)
        self.letters += 1
        if self.letters >= @{together}:
            self.leave()

    def work(self):
        begin = due = time.perf_counter()
        while time.perf_counter() - begin < @{seconds}:
            start = time.perf_counter()
            self.@{fn}(self.letter(self.units))
            self.busy += time.perf_counter() - start
            self.units += 1
            due = max(due + @{choirs} / @{rate}, time.perf_counter())
            time.sleep(max(0.0, due - time.perf_counter()))
        if self.dialogue is not None:
            self.leave()


choirs = [Choir(number + 1) for number in range(@{choirs})]
threads = [threading.Thread(target=choir.work) for choir in choirs]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
with open("@{report}", "w") as out:
    json.dump({"units": sum(c.units for c in choirs), "seconds": sum(c.busy for c in choirs), "culprit": sum(c.calling for c in choirs)}, out)
