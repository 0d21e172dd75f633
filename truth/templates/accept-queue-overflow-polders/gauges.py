"""The gauges of a polder: each reports at every full interval, with its readings of the last hours."""
import json
import socket
import threading
import time


def report(gauge, turn):
    with socket.create_connection(("127.0.0.1", @{port}), 8) as station:
        readings = " ".join(str(200 + (gauge * 31 + turn * 17 + hour * 7) % 90) for hour in range(@{hours}))
        station.sendall(f"gauge-{gauge} {readings}\n".encode())
        with station.makefile("rb") as answers:
            if not answers.readline():
                raise OSError("closed")


def main():
    took, errors, lock = [], [0], threading.Lock()
    began = time.monotonic()
    end = began + @{seconds}

    def work(gauge):
        turn = 0
        while time.monotonic() < end:
            turn += 1
            due = began + turn * @{interval} + gauge * @{apart}
            if time.monotonic() > due + 0.05:
                continue
            time.sleep(max(0.0, due - time.monotonic()))
            start = time.monotonic()
            try:
                report(gauge, turn)
                with lock:
                    took.append(time.monotonic() - start)
            except OSError:
                errors[0] += 1

    threads = [threading.Thread(target=work, args=(gauge,), daemon=True) for gauge in range(@{gauges})]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, end + 4 - time.monotonic()))
    with lock, open("@{report}", "w") as out:
        json.dump({"units": len(took), "seconds": sum(took), "errors": errors[0]}, out)


main()
