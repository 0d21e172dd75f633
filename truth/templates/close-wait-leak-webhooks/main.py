"""Tells subscribers of what has happened: one POST for each event and hook."""
import hashlib
import hmac
import http.client
import json
import threading
import time

now = time.monotonic
END = now() + @{seconds}


class Letters:
    """What could not be delivered, for the operators."""

    def __init__(self):
        self.dead, self.fresh, self.lock = [], [], threading.Lock()

    def @{fn}(self, hook, answer):
        if "@{mode}" == "close":
            why = answer.read()
            answer.close()
            answer = why.decode()[:200]
        with self.lock:
            (self.fresh if "@{mode}" == "later" else self.dead).append((hook, answer))

    def explain(self):
        while True:
            time.sleep(@{patience})
            with self.lock:
                fresh, self.fresh = self.fresh, []
            for hook, answer in fresh:
                why = answer.read()
                answer.close()
                self.dead.append((hook, why.decode()[:200]))


class Sender(threading.Thread):
    def __init__(self, number, letters):
        super().__init__(name="hooks-%d" % number, daemon=True)
        self.number, self.letters, self.units, self.busy = number, letters, 0, 0.0
        self.line = http.client.HTTPConnection("127.0.0.1", @{port}, timeout=20)

    def deliver(self, hook, body):
        sign = hmac.new(b"shared secret", body, hashlib.sha256).hexdigest()
        self.line.request("POST", "/hooks/%d" % hook, body, {"Content-Type": "application/json", "X-Signature": sign})
        answer = self.line.getresponse()
        if answer.status >= 300:
            return self.letters.@{fn}(hook, answer)
        return answer.read()

    def run(self):
        began = now()
        while (start := now()) < END:
            body = json.dumps({"order": self.units, "state": "paid", "lines": "x" * @{bytes}}).encode()
            self.deliver(self.number * 1000 + self.units % 40, body)
            self.units += 1
            self.busy += now() - start
            time.sleep(max(0.0, began + self.units / @{rate} - now()))


letters = Letters()
threading.Thread(target=letters.explain, name="letters", daemon=True).start()
senders = [Sender(number, letters) for number in range(@{workers})]
for sender in senders:
    sender.start()
for sender in senders:
    sender.join()
with open("@{report}", "w") as out:
    json.dump({"units": sum(sender.units for sender in senders), "seconds": sum(sender.busy for sender in senders)}, out)
