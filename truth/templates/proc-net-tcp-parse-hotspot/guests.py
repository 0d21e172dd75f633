"""The guests' connections through the house: all of them are open, and few say anything."""
import socket
import struct
import time

AT_ONCE = struct.pack("ii", 1, 0)
door = socket.create_server(("127.0.0.1", @{door}), backlog=64)
held = []
for number in range(@{guests}):
    phone = socket.socket()
    phone.bind((f"127.1.{number // 200 % 250}.{number % 200 + 1}", 0))
    phone.connect(("127.0.0.1", @{door}))
    inside, _ = door.accept()
    for end in (phone, inside):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
    held.append((phone, inside))
open("@{work}/guests.ready", "w").close()
while True:
    time.sleep(60)
