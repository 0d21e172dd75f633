"""The displays in the hall: each asks for one station after another, and draws the last day's pressure."""
import json
import socket
import struct
import threading
import time

SAMPLE = struct.Struct("<IIf")


def draw(samples):
    """The curve, as heights of 0 to 40."""
    low, high = min(samples), max(samples)
    return [round(40 * (value - low) / ((high - low) or 1)) for value in samples]


def read(connection, buffer):
    head = b""
    while not head.endswith(b"\n"):
        byte = connection.recv(1)
        if not byte:
            raise OSError("closed")
        head += byte
    left = int(head.split()[1]) * SAMPLE.size
    keep, view = @{drawn} * SAMPLE.size, memoryview(buffer)
    tail = b""
    while left:
        got = connection.recv_into(view[:min(left, len(buffer))])
        if not got:
            raise OSError("closed")
        left -= got
        if left < keep:
            tail = (tail + bytes(view[:got]))[-keep:]
    return [value for _, _, value in SAMPLE.iter_unpack(tail[len(tail) % SAMPLE.size:])]


def display(number, took):
    connection = socket.create_connection(("127.0.0.1", @{port}))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    buffer, end, n = bytearray(1 << 18), time.monotonic() + @{seconds}, number
    while time.monotonic() < end:
        n += 1
        whole = @{download} and n % @{download} == 0
        began = time.monotonic()
        connection.sendall(b"%s %d\n" % (b"all" if whole else b"pressure", n))
        samples = read(connection, buffer)
        took.append(time.monotonic() - began)
        draw(samples[-@{drawn}:])
        time.sleep(@{think} / 1000)


def main():
    took = []
    threads = [threading.Thread(target=display, args=(number * 7, took)) for number in range(@{displays})]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with open("@{report}", "w") as out:
        json.dump({"units": len(took), "seconds": sum(took)}, out)


main()
