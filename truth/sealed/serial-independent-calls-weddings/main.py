"""Makes offers for weddings: who of our suppliers is free on the day, and what it would cost."""
import http.client
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

SUPPLIERS = {
    "venue": "127.0.@{net}.11",
    "kitchen": "127.0.@{net}.12",
    "band": "127.0.@{net}.13",
    "flowers": "127.0.@{net}.14",
    "pictures": "127.0.@{net}.15",
    "cars": "127.0.@{net}.16",
}


class Supplier:
    def __init__(self, name, host):
        self.name, self.line = name, http.client.HTTPConnection(host, @{desk}, timeout=10)

    def ask(self, day):
        self.line.request("GET", f"/{self.name}/days/{day}", headers={"Accept": "application/json"})
        answer = self.line.getresponse()
        return json.loads(answer.read())


class Planner(threading.Thread):
    def __init__(self, number, end):
        super().__init__(name=f"planner-{number}")
        self.end, self.units, self.busy, self.asking = end, 0, 0.0, 0.0
        self.suppliers = [Supplier(name, host) for name, host in SUPPLIERS.items()]
        self.pool = ThreadPoolExecutor(len(self.suppliers)) if "@{order}" == "once" else None

    def @{fn}(self, day):
        if "@{order}" == "once":
            return list(self.pool.map(lambda supplier: supplier.ask(day), self.suppliers))
        answers = []
        for supplier in self.suppliers:
            answer = supplier.ask(day)
            if "@{order}" == "agree":
                day = answer["day"]
            answers.append(answer)
        return answers

    def offer(self, enquiry):
        _, number, day, guests = enquiry.split()
        start = time.perf_counter()
        answers = self.@{fn}(int(day))
        self.asking += time.perf_counter() - start
        missing = [supplier.name for supplier, answer in zip(self.suppliers, answers) if not answer["free"]]
        price = sum(answer["price"] for answer in answers) + int(guests) * 85
        return f"offer {number.decode()} {price} {'without ' + ','.join(missing) if missing else 'complete'}\n"

    def run(self):
        with socket.create_connection(("127.0.0.1", @{mailbox})) as mailbox, mailbox.makefile("rb") as enquiries:
            mailbox.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while time.monotonic() < self.end and (enquiry := enquiries.readline()):
                start = time.monotonic()
                mailbox.sendall(self.offer(enquiry).encode())
                self.units += 1
                self.busy += time.monotonic() - start
        if self.pool:
            self.pool.shutdown()


def main():
    end = time.monotonic() + @{seconds}
    planners = [Planner(number, end) for number in range(@{planners})]
    for planner in planners:
        planner.start()
    for planner in planners:
        planner.join()
    total = {"units": sum(p.units for p in planners), "seconds": sum(p.busy for p in planners), "culprit": sum(p.asking for p in planners)}
    with open("@{report}", "w") as out:
        json.dump(total, out)


main()
