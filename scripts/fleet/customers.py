"""Orders from a shop, so many times a second, over one connection."""

import http.client
import json
import sys
import time

HOST, PORT, RATE = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
connection = http.client.HTTPConnection(HOST, PORT)
number, due = 0, time.monotonic()
while True:
    number += 1
    order = {"customer": number % 700, "items": [[f"article-{300 + number % 90}", 1 + number % 3], ["article-45", 2]]}
    connection.request("POST", "/orders", json.dumps(order))
    connection.getresponse().read()
    due = max(due + 1 / RATE, time.monotonic())
    time.sleep(max(0.0, due - time.monotonic()))
