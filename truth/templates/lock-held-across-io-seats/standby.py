"""The standby of a box office. A block: how many seats (4 bytes), then for each its number and who has it (4 each). The receipt: a sum (4)."""
import random
import socket
import struct
import threading
import time


def serve(office):
    stream, plan = office.makefile("rb"), {}
    try:
        while head := stream.read(4):
            count = struct.unpack(">I", head)[0]
            numbers = struct.unpack(f">{2 * count}I", stream.read(8 * count))
            plan.update(zip(numbers[::2], numbers[1::2]))
            time.sleep(@{delay} / 1000 * random.uniform(0.8, 1.2))
            office.sendall(struct.pack(">I", sum(numbers) & 0xFFFFFFFF))
    except OSError:
        pass
    stream.close()
    office.close()


with socket.socket(socket.AF_UNIX) as door:
    door.bind("@{work}/@{sock}")
    door.listen(8)
    while True:
        threading.Thread(target=serve, args=(door.accept()[0],), daemon=True).start()
