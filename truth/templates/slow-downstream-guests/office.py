"""The head office: RADIUS for the portals of all hotels (RFC 2865), and a line that tells them which rooms have checked out."""
import hashlib
import queue
import random
import socket
import socketserver
import struct
import threading
import time

SECRET = b"bed and breakfast"
chance = random.Random(5)
door = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
door.bind(("127.0.0.1", @{radius}))
asked = queue.SimpleQueue()


def attributes(packet):
    at, found = 20, {}
    while at + 2 <= len(packet):
        kind, length = packet[at], packet[at + 1]
        found[kind] = packet[at + 2:at + length]
        at += length
    return found


def @{fn2}(*rooms):
    """The contracts of rooms, from the property system of their house."""
    time.sleep(@{way} / 1000 * chance.uniform(0.75, 1.25))
    return {room: (3600 * (1 + room % 24), 2000 + room % 7 * 4000) for room in rooms}


def answer():
    while True:
        packet, portal = asked.get()
        room = int(attributes(packet)[1].removeprefix(b"room-"))
        seconds, kilobits = contracts[room] if room in contracts else @{fn2}(room)[room]
        text = struct.pack("!BBI", 27, 6, seconds) + struct.pack("!BBI", 85, 6, kilobits)
        head = struct.pack("!BBH", 2, packet[1], 20 + len(text))
        seal = hashlib.md5(head + packet[4:20] + text + SECRET).digest()
        door.sendto(head + seal + text, portal)


class Notices(socketserver.StreamRequestHandler):
    def handle(self):
        while True:
            time.sleep(@{watch} * chance.uniform(0.8, 1.2))
            self.wfile.write(b"gone room-%d\n" % chance.randrange(900, 990))


class Desk(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


contracts = @{fn2}(*range(100, 1000)) if @{ahead} else {}
for _ in range(24):
    threading.Thread(target=answer, daemon=True).start()
desk = Desk(("127.0.0.1", @{notices}), Notices)
threading.Thread(target=desk.serve_forever, daemon=True).start()
while True:
    asked.put(door.recvfrom(4096))
