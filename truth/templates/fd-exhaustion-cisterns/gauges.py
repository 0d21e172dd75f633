"""The gauges in the cisterns: each keeps a connection, and says its level now and then. Who is not answered tries with a new connection."""
import json
import socket
import threading
import time

took, errors, lock = [], [0], threading.Lock()
end = time.monotonic() + @{seconds}


def gauge(number):
    link = lines = None
    turn = 0
    time.sleep(number * 0.01)
    while time.monotonic() < end:
        start = time.monotonic()
        try:
            if link is None:
                link = socket.create_connection(("127.0.0.1", @{port}), 1.5)
                lines = link.makefile("rb")
            link.sendall(b"gauge-%d %d\n" % (number, 300 + (number * 37 + turn) % 500))
            answer = lines.readline()
            if answer.startswith(b"full"):
                link.close()
                link = None
                time.sleep(2)
                continue
            if not answer:
                raise OSError("closed")
            with lock:
                took.append(time.monotonic() - start)
        except OSError:
            with lock:
                errors[0] += 1
            if link is not None:
                link.close()
            link = None
        turn += 1
        time.sleep(@{period_ms} / 1000)


threads = [threading.Thread(target=gauge, args=(n,), daemon=True) for n in range(@{gauges})]
for thread in threads:
    thread.start()
time.sleep(max(0, end - time.monotonic()))
with lock:
    with open("@{report}", "w") as out:
        json.dump({"units": len(took), "seconds": sum(took), "errors": errors[0]}, out)
