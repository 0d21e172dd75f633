"""Names of the club's addresses: answers each question for one, when its registry has it."""
import heapq
import random
import select
import socket
import time

NAME = b"\x06player\x04club\x07example\x00"
line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
line.bind(("@{names}", 53))
open("@{work}/nameserver.ready", "w").close()
due = []


def answer(question):
    """The same question, and one record that points to the name."""
    end = question.index(b"\0", 12) + 5
    head = question[:2] + b"\x81\x80\0\1\0\1\0\0\0\0"
    return head + question[12:end] + b"\xc0\x0c\0\x0c\0\1\0\0\0\x3c" + len(NAME).to_bytes(2, "big") + NAME


while True:
    wait = max(0.0, due[0][0] - time.monotonic()) if due else None
    if select.select([line], [], [], wait)[0]:
        question, who = line.recvfrom(2048)
        heapq.heappush(due, (time.monotonic() + @{answer} / 1000 * random.uniform(0.8, 1.2), random.random(), answer(question), who))
    while due and due[0][0] <= time.monotonic():
        _, _, text, who = heapq.heappop(due)
        line.sendto(text, who)
