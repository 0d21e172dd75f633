"""The catalogue of tariffs. A question: how long the rest is (2 bytes), operation (1), zone (2), grams (4). An answer: length (2), cents (4)."""
import os
import random
import signal
import socket
import struct

INDEX = "@{index}"


class Tariff:
    __slots__ = ("zone", "grams", "cents", "valid")

    def __init__(self, zone, grams, cents):
        self.zone, self.grams, self.cents, self.valid = zone, grams, cents, True


def load():
    source = random.Random(4)
    return [Tariff(source.randrange(@{zones}), source.randrange(100, 31500), source.randrange(200, 9000)) for _ in range(@{tariffs})]


TARIFFS = load()
BY_ZONE = {}
if INDEX == "zone":
    for tariff in TARIFFS:
        best = BY_ZONE.setdefault(tariff.zone, {})
        band = tariff.grams // 500
        if band not in best or best[band].cents > tariff.cents:
            best[band] = tariff


def @{fn}(zone, grams):
    if INDEX == "zone":
        bands = BY_ZONE.get(zone, {})
        return min((tariff.cents for band, tariff in bands.items() if band >= grams // 500), default=0)
    cents = 0
    for tariff in TARIFFS:
        if tariff.valid and tariff.zone == zone and tariff.grams >= grams and (not cents or tariff.cents < cents):
            cents = tariff.cents
    return cents


def serve(client):
    stream = client.makefile("rb")
    try:
        while head := stream.read(2):
            _, zone, grams = struct.unpack(">BHI", stream.read(struct.unpack(">H", head)[0]))
            client.sendall(struct.pack(">HI", 4, @{fn}(zone, grams)))
    except OSError:
        pass
    stream.close()
    client.close()


door = socket.socket(socket.AF_UNIX)
door.bind("@{work}/@{catalogue}")
door.listen(64)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while True:
    asker, _ = door.accept()
    if not os.fork():
        door.close()
        serve(asker)
        os._exit(0)
    asker.close()
