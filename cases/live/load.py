"""A client: load.py PORT PATH SECONDS [CLIENTS [TIMEOUT_S [PAUSE_S]]]. Each of CLIENTS asks for PATH on a kept connection, again and again
(for SECONDS, or with SECONDS/ANSWERS until that many were answered, if it takes no longer: a slow tracer gets as much to see as a fast one),
gives up after TIMEOUT_S (and closes the connection), waits PAUSE_S before the next, and tells at the end what it got."""
import http.client
import sys
import threading
import time

port, path = int(sys.argv[1]), sys.argv[2]
seconds, _, wanted = sys.argv[3].partition("/")
wanted = int(wanted) if wanted else float("inf")
clients = int(sys.argv[4]) if len(sys.argv) > 4 else 2
timeout = float(sys.argv[5]) if len(sys.argv) > 5 else 10.0
pause = float(sys.argv[6]) if len(sys.argv) > 6 else 0.0
end = time.monotonic() + float(seconds)
answered, given_up = [], []


def ask_again_and_again():
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    while time.monotonic() < end and len(answered) < wanted:
        start = time.monotonic()
        try:
            connection.request("GET", path)
            connection.getresponse().read()
            answered.append(time.monotonic() - start)
        except (TimeoutError, http.client.HTTPException, ConnectionError):
            given_up.append(time.monotonic() - start)
            connection.close()
        if pause:
            time.sleep(pause)


threads = [threading.Thread(target=ask_again_and_again) for _ in range(clients)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
mean = sum(answered) / len(answered) if answered else float("nan")
print(f"{len(answered)} answers, {mean * 1000:.1f} ms each; {len(given_up)} given up")
