"""The gate: knows the hour and the doors. A question: door (2 bytes), badge (4). The answer: badge (4), open or not (1)."""
import socket
import struct
import threading


def serve(door):
    door.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with door, socket.socket(socket.AF_UNIX) as policies, door.makefile("rb") as questions:
        policies.connect("@{work}/@{sock}")
        hour = 8
        try:
            while frame := questions.read(6):
                number, badge = struct.unpack(">HI", frame)
                hour = (hour + 1) % 24
                policies.sendall(struct.pack(">IB", (number * 131 + badge) % @{rules} + 1, hour))
                door.sendall(struct.pack(">I", badge) + policies.recv(1))
        except (OSError, struct.error):
            pass


with socket.create_server(("127.0.0.1", @{gate}), backlog=64) as listener:
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
