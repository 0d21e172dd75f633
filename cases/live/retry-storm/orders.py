"""Asks the price of four things: orders.py PORT [patient]. A price that it does not get it asks again: 40 times at once, or
patiently twice, with a pause that grows."""
import http.client
import sys
import time

pauses = [0.3, 0.9] if sys.argv[2:] == ["patient"] else [0] * 40
connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=10)


def price(thing):
    connection.request("GET", f"/price/{thing}")
    answer = connection.getresponse()
    answer.read()
    return answer.status == 200


for thing in range(17, 21):
    tries = 1
    while not price(thing) and tries <= len(pauses):
        if pauses[tries - 1]:
            time.sleep(pauses[tries - 1])
        tries += 1
    print(f"thing {thing}: {tries} tries")
