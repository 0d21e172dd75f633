"""Says who has some of the sessions: report.py PORT [one] (asks for each alone)."""
import http.client
import json
import sys

one = sys.argv[2:] == ["one"]
connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))


def fetch(path):
    connection.request("GET", path)
    return json.loads(connection.getresponse().read())


for number in range(0, 2_000, 100):
    session = fetch(f"/sessions/{number}") if one else fetch("/sessions")[number]
    print(session["user"])
