"""A shop's front end: one order after the other."""
import random
import socket
import time

app = socket.create_connection(("10.78.0.2", 8000))
answers = app.makefile("rb")
number = 0
while True:
    app.sendall(b"order %d\n" % number)
    answers.readline()
    number += 1
    sum(i * i for i in range(random.randrange(2_000, 20_000)))
    time.sleep(random.random() * 0.01)
