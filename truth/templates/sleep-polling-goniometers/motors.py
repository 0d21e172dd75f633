"""The motors: MOVE axis angle -> AT angle; COUNT ms -> COUNTS n."""
import random
import socket
import threading
import time


def serve(client):
    for line in client.makefile("r"):
        word, *rest = line.split()
        time.sleep(@{answer} / 1000)
        answer = f"AT {rest[1]}" if word == "MOVE" else f"COUNTS {random.randint(50, 90000)}"
        client.sendall(answer.encode() + b"\n")


door = socket.socket(socket.AF_UNIX)
door.bind("@{work}/@{sock}")
door.listen(8)
while True:
    threading.Thread(target=serve, args=(door.accept()[0],), daemon=True).start()
