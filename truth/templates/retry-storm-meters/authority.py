"""The fare authority: says by datagrams what a ride may cost. One thread takes the questions, as many as there is room for; one answers them in turn."""
import os
import queue
import socket
import threading
import time

line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
line.bind(("127.0.0.1", @{port}))
with open("@{work}/authority.pid", "w") as file:
    print(os.getpid(), file=file)
waiting = queue.Queue(@{room})


def answer():
    while True:
        question, sender = waiting.get()
        time.sleep(@{took} / 1000)
        taxi, ride, start, end, _ = question.split(b" ", 4)
        line.sendto(b"%s %s %d" % (taxi, ride, 420 + 130 * abs(int(start) - int(end))), sender)


threading.Thread(target=answer, daemon=True).start()
while True:
    try:
        waiting.put_nowait(line.recvfrom(2048))
    except queue.Full:
        pass
