"""The machines of the lanes: they tell how many pins each throw has left."""
import random
import socket
import time

out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
due = time.monotonic()
while True:
    due += 1 / @{rate}
    time.sleep(max(0.0, due - time.monotonic()))
    lane = -1 if @{all} else random.randrange(@{lanes})
    try:
        out.sendto(b"%d %d" % (lane, random.randint(0, 10)), ("127.0.0.1", @{port}))
    except OSError:
        pass
