"""Where the cabs are. A datagram is asked by a datagram: NEAR number x y -> number, then a cab's x y for each; NEWS number -> number, when there is some."""
import random
import socket
import threading
import time

office = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
office.bind(("127.0.0.1", @{port}))


def answer(question, who):
    word, number, *place = question.split()
    if word == "NEWS":
        threading.Event().wait((@{news} or 60) * random.uniform(0.7, 1.3))
        text = f"{number} {random.randint(0, 99)} {random.randint(0, 99)}"
    else:
        time.sleep(@{delay} / 1000 * random.uniform(0.7, 1.4))
        x, y = map(int, place)
        text = f"{number} " + " ".join(f"{x + random.randint(-40, 40)} {y + random.randint(-40, 40)}" for _ in range(@{cabs}))
    office.sendto(text.encode(), who)


open("@{work}/positions.up", "w").close()
while True:
    question, who = office.recvfrom(2048)
    threading.Thread(target=answer, args=(question.decode(), who), daemon=True).start()
