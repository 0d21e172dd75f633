"""Asks 300 times, on a connection each, or with `keep` on one: client.py PORT [keep]."""
import http.client
import sys

keep = sys.argv[2:] == ["keep"]
connection = None
for _ in range(300):
    if connection is None:
        connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
    connection.request("GET", "/user")
    connection.getresponse().read()
    if not keep:
        connection.close()
        connection = None
