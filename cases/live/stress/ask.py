"""Asks an HTTP server over four kept connections, again and again, and checks each answer: ask.py PORT. At the end of its input it tells
how many were right, what went wrong, and how long the slowest took."""
import http.client
import sys
import threading
import time

CLIENTS = 4
# A request that takes longer has failed.
LIMIT_S = 10

ended = threading.Event()
right, wrong, slowest = [0] * CLIENTS, [], [0.0] * CLIENTS


def ask(number):
    connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=LIMIT_S)
    asked = 0
    while not ended.is_set():
        asked += 1
        began = time.monotonic()
        try:
            connection.request("GET", f"/rows/{number}/{asked}")
            answer = connection.getresponse()
            text = answer.read().decode()
            if answer.status == 200 and text == f"/rows/{number}/{asked}":
                right[number] += 1
            else:
                wrong.append(f"{answer.status} {text!r}")
        except (OSError, http.client.HTTPException) as error:
            wrong.append(repr(error))
            connection.close()
        slowest[number] = max(slowest[number], time.monotonic() - began)
        time.sleep(0.002)


threads = [threading.Thread(target=ask, args=(number,)) for number in range(CLIENTS)]
for thread in threads:
    thread.start()
sys.stdin.read()
ended.set()
for thread in threads:
    thread.join()
for error in wrong[:20]:
    print(error, file=sys.stderr)
print(f"{sum(right)} right, {len(wrong)} wrong, {max(slowest) * 1000:.0f} ms")
