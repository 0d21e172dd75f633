"""The press takes what comes: a head of 64 bytes with the length, then the sheets. It answers each with one line."""
import socket
import threading


def take(line):
    while True:
        head = b""
        while len(head) < 64:
            part = line.recv(64 - len(head))
            if not part:
                return
            head += part
        left = int(head.split()[1])
        sheet = bytearray(1 << 20)
        while left:
            # To the drum by large parts, without a copy.
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, min(left, 1 << 19))
            n = line.recv_into(sheet, min(left, 1 << 20), socket.MSG_TRUNC)
            if not n:
                return
            left -= n
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1)
        line.sendall(b"ok\n")


door = socket.socket()
door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
try:
    # Room for some sheets (SO_RCVBUFFORCE): a shop does not wait for the drum.
    door.setsockopt(socket.SOL_SOCKET, 33, 16 << 20)
except OSError:
    pass
door.bind(("127.0.0.1", @{port}))
door.listen()
while True:
    threading.Thread(target=take, args=(door.accept()[0],), daemon=True).start()
