"""Screens that wait for news: each asks, is answered when there is something, and asks again."""
import http.client
import threading
import time


def screen():
    while True:
        line = http.client.HTTPConnection("127.0.0.1", @{port}, timeout=30)
        try:
            while True:
                line.request("GET", "/watch/1")
                line.getresponse().read()
        except (OSError, http.client.HTTPException):
            line.close()
            time.sleep(0.1)


for _ in range(@{watchers}):
    threading.Thread(target=screen, daemon=True).start()
time.sleep(1000)
