"""The computer of a nursery: asks the controllers of its glasshouses round by round, and sets the vents, the heating and the water of each bed."""
import asyncio
import dataclasses
import json
import math
import struct
import time

HOUSES = {"palms": @{palms}, "herbs": @{herbs}, "cacti": @{cacti}, "ferns": @{ferns}, "roses": @{roses}, "seeds": @{seeds}}
WATER = 2400
LIMIT = 2.0


@dataclasses.dataclass
class Climate:
    celsius: float = 0.0
    humidity: float = 0.0
    light: int = 0
    water: int = 0


class Controller(asyncio.DatagramProtocol):
    """A line to the controller of one house."""

    def __init__(self, name):
        self.name, self.asked = name, {}

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, address):
        _, number, celsius, humidity, light, water = struct.unpack(">BHHHHH", data)
        asked = self.asked.pop(number, None)
        if asked and not asked.done():
            asked.set_result(Climate(celsius / 100, humidity / 1000, light, water))

    async def read(self, number, water):
        self.asked[number] = asyncio.get_running_loop().create_future()
        self.transport.sendto(struct.pack(">BHH", 3, number, water))
        return await asyncio.wait_for(self.asked[number], LIMIT)


async def @{fn}(controllers, number):
    """The climate of each house."""
    share = WATER // len(controllers)
    if "@{order}" == "once":
        return await asyncio.gather(*(one.read(number, share) for one in controllers))
    climates, left = [], WATER
    for one in controllers:
        climates.append(await one.read(number, left if "@{order}" == "water" else share))
        left = climates[-1].water
    return climates


def vent(climate, bed):
    """How far a bed's vent is opened: by how dry the air is above it."""
    celsius = climate.celsius - bed % 7 * 0.1
    pressure = 0.61094 * math.exp(17.625 * celsius / (celsius + 243.04))
    return pressure * (1 - climate.humidity) * (1 + climate.light / 20000)


async def main():
    loop, controllers = asyncio.get_running_loop(), []
    for name, port in HOUSES.items():
        controllers.append((await loop.create_datagram_endpoint(lambda: Controller(name), remote_addr=("127.0.0.1", port)))[1])
    begun, rounds, busy, asking = time.monotonic(), 0, 0.0, 0.0
    with open("@{work}/vents.csv", "w") as journal:
        while time.monotonic() - begun < @{seconds}:
            began = time.monotonic()
            climates = await @{fn}(controllers, rounds % 65536)
            asking += time.monotonic() - began
            for one, climate in zip(controllers, climates):
                mean = sum(vent(climate, bed) for bed in range(@{beds})) / @{beds}
                journal.write(f"{rounds};{one.name};{climate.celsius:.1f};{mean:.3f}\n")
            rounds += 1
            busy += time.monotonic() - began
            await asyncio.sleep(max(0.0, begun + rounds / @{rate} - time.monotonic()))
    with open("@{report}", "w") as report:
        json.dump({"units": rounds, "seconds": busy, "culprit": asking}, report)


asyncio.run(main())
