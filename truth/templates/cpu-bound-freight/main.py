"""A freight exchange: the best offers for a cargo. A process for each shipper."""
import csv
import heapq
import math
import socketserver

OFFERS_FILE = "@{work}/@{offers_file}"
# What the exchange shows to a shipper at most.
OFFERS = max(60, @{offers} // 4)


class Offer:
    __slots__ = ("carrier", "per_ton", "per_km", "speed", "distance")

    def __init__(self, carrier, *numbers):
        self.carrier = carrier
        self.per_ton, self.per_km, self.speed, self.distance = map(float, numbers)


def write_market():
    with open(OFFERS_FILE, "w", newline="") as out:
        rows = csv.writer(out, delimiter="\t")
        for i in range(OFFERS):
            rows.writerow([f"carrier-{i % @{carriers}}", 4 + i * 37 % 900 / 100, 0.4 + i * 91 % 1300 / 1000, 38 + i * 53 % 420 / 10, i * 7919 % 640])


def read_market():
    with open(OFFERS_FILE, newline="") as rows:
        return [Offer(*row) for row in csv.reader(rows, delimiter="\t")]


def toll(offer, way):
    """By the leg: hills cost more, and more still for the slow."""
    step = way / @{legs}
    return sum((1.1 + math.sin(offer.distance + leg * step)) * step * (0.04 if offer.speed > 60 else 0.05) for leg in range(0, @{legs}, 4)) * 4


def priced(market, cargo):
    """Cents and tenths of hours of each offer."""
    tons, way = 3 + cargo % 22, 120 + cargo * 37 % 900
    for i, offer in enumerate(market):
        to = math.hypot(offer.distance - cargo % 640, 40)
        cents = 100 * (offer.per_ton * tons + offer.per_km * (way + to * 0.6) + 80 * math.log1p(to) + toll(offer, way))
        yield int(cents), int((way + to) / offer.speed * 10) + (i * 31 + cargo) % 9


def @{fn}(offers):
    beaten = []
    for cents, hours in offers:
        count = 0
        for other_cents, other_hours in offers:
            if cents < other_cents and hours < other_hours:
                count += 1
        beaten.append(count)
    return beaten


def count(offers):
    """From the dearest to the cheapest; a tree of counts by hours says how many of the dearer ones are slower."""
    most = max(hours for _, hours in offers) + 1
    tree, beaten, alike = [0] * (most + 1), [0] * len(offers), []
    for number in sorted(range(len(offers)), key=lambda n: -offers[n][0]):
        if alike and offers[alike[0]][0] != offers[number][0]:
            for earlier in alike:
                at = most - offers[earlier][1]
                while at <= most:
                    tree[at] += 1
                    at += at & -at
            alike = []
        at = most - offers[number][1] - 1
        while at > 0:
            beaten[number] += tree[at]
            at &= at - 1
        alike.append(number)
    return beaten


def answer(market, cargo):
    offers = list(priced(market, cargo))
    beaten = @{fn}(offers) if "@{ranking}" == "pairs" else count(offers)
    best = heapq.nlargest(5, range(len(offers)), key=beaten.__getitem__)
    return "; ".join(f"{market[n].carrier} {offers[n][0] / 100:.2f} in {offers[n][1] // 10} h" for n in best)


class Shipper(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        for line in self.rfile:
            self.wfile.write(answer(self.server.market, int(line.split()[-1])).encode() + b"\n")


class Exchange(socketserver.ForkingTCPServer):
    allow_reuse_address = True
    request_queue_size = 64


def main():
    write_market()
    with Exchange(("127.0.0.1", @{port}), Shipper) as exchange:
        exchange.market = read_market()
        exchange.serve_forever()


main()
