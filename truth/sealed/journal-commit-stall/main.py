"""Sessions of a shop: each change is kept by a thread; a child writes the nightly image of all, all day long since the shop is open at night."""
import json
import multiprocessing
import os
import threading
import time

VOLUME = "@{work}/@{volume}"
totals, guard = [0, 0.0, 0.0], threading.Lock()


def @{fn}(path):
    with open(path + ".tmp", "wb") as out:
        for _ in range(@{kb} // 64):
            out.write(os.urandom(1024) * 64)
        out.flush()
        os.fsync(out.fileno())
    os.replace(path + ".tmp", path)


def images():
    parent = os.getppid()
    while os.getppid() == parent:
        @{fn}("@{place}/@{snapshot}")
        time.sleep(@{rest_ms} / 1000)


def keep_sessions(shard, end):
    with open(f"{VOLUME}/sessions.{shard}", "ab") as out:
        time.sleep(0.05 * shard)
        while time.monotonic() < end:
            start = time.monotonic()
            out.write(json.dumps({"shard": shard, "cart": "c" * @{bytes}}).encode())
            out.flush()
            before = time.monotonic()
            os.fsync(out.fileno())
            after = time.monotonic()
            if out.tell() > 300_000:
                out.truncate(0)
            with guard:
                totals[0] += 1
                totals[1] += time.monotonic() - start
                totals[2] += after - before
            time.sleep(1 / @{rate})


def main():
    imaging = multiprocessing.get_context("fork").Process(target=images, daemon=True)
    imaging.start()
    end = time.monotonic() + @{seconds}
    threads = [threading.Thread(target=keep_sessions, args=(shard, end)) for shard in range(@{workers})]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    imaging.terminate()
    with open("@{report}", "w") as out:
        json.dump({"units": totals[0], "seconds": totals[1], "culprit": totals[2]}, out)


main()
