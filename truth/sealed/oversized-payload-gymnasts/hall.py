"""The hall: tablets of judges, and the printer of the office."""
import http.client
import json
import random
import socket
import threading
import time

END = time.monotonic() + @{seconds}
LINK = @{link_mb} * 1e6
took, errors, lock = [], [0], threading.Lock()


def connect():
    connection = http.client.HTTPConnection("127.0.0.1", @{port}, timeout=20)
    connection.sock = socket.socket()
    connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32768)
    connection.sock.settimeout(20)
    connection.sock.connect(("127.0.0.1", @{port}))
    connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def receive(answer):
    """Reads as fast as the radio is."""
    began, got = time.monotonic(), []
    total = 0
    while part := answer.read(16384):
        got.append(part)
        total += len(part)
        time.sleep(max(0.0, began + total / LINK - time.monotonic()))
    return b"".join(got)


def ask(connection, method, path):
    connection.request(method, path)
    answer = connection.getresponse()
    body = receive(answer)
    if answer.status != 200:
        raise OSError(f"status {answer.status}")
    return answer, body


def judge(number):
    chance, connection, seen = random.Random(number), connect(), 0
    answer, _ = ask(connection, "GET", "/version")
    seen = int(answer.headers["X-Version"])
    time.sleep(@{think} / 1000 * chance.random())
    while time.monotonic() < END:
        gymnast = chance.randrange(@{gymnasts})
        began = time.monotonic()
        try:
            answer, body = ask(connection, "POST", f"/marks?gymnast={gymnast}&apparatus={number % 6}&mark={chance.randrange(700, 990)}&seen={seen}")
            seen = int(answer.headers["X-Version"])
            if not any(row.startswith(b"%d;" % gymnast) for row in body.split(b"\n")):
                raise OSError("the mark is lost")
            with lock:
                took.append(time.monotonic() - began)
        except OSError:
            with lock:
                errors[0] += 1
            connection = connect()
        time.sleep(@{think} / 1000 * chance.uniform(0.5, 1.5))


def office():
    connection = connect()
    while time.monotonic() < END:
        time.sleep(@{office_s})
        _, body = ask(connection, "GET", "/protocol.csv")
        if body.count(b"\n") != @{gymnasts}:
            raise OSError("a row is missing")


threads = [threading.Thread(target=judge, args=(n,), daemon=True) for n in range(@{judges})]
if @{office_s}:
    threading.Thread(target=office, daemon=True).start()
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(@{seconds} + 20)
with open("@{report}", "w") as out:
    json.dump({"units": len(took), "seconds": sum(took), "errors": errors[0]}, out)
