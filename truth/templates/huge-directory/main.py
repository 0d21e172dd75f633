"""Takes uploads in, and hands each to the converter: a thread that looks for them in the folder."""
import hashlib
import itertools
import json
import os
import threading
import time

FOLDER = "@{work}/@{folder}"
arrived, over = threading.Semaphore(0), threading.Event()
took = {"units": 0, "seconds": 0.0, "culprit": 0.0}


def @{fn}():
    began = time.monotonic()
    with os.scandir(FOLDER) as entries:
        waiting = [entry.path for entry in entries if entry.name.endswith(".new")]
    took["culprit"] += time.monotonic() - began
    return waiting


def @{fn2}(path):
    with open(path, "rb") as upload:
        digest = upload.read()
    for _ in range(@{extra}):
        digest = hashlib.sha256(digest * 6000).digest()
    os.rename(path, path[:-4] + ".sent")


def listing(part):
    while True:
        with os.scandir(FOLDER) as entries:
            while names := [entry.name for entry in itertools.islice(entries, part)]:
                yield names


def converter():
    parts = listing(@{part}) if @{part} else None
    while arrived.acquire() and not over.is_set():
        start = time.monotonic()
        if parts:
            next(parts)
            waiting = ["%s/@{stem}-%d.new" % (FOLDER, took["units"])]
        else:
            waiting = @{fn}()
        for path in waiting:
            @{fn2}(path)
        took["units"] += 1
        took["seconds"] += time.monotonic() - start


def main():
    worker = threading.Thread(target=converter, name="converter")
    worker.start()
    began, sent = time.monotonic(), 0
    while time.monotonic() - began < @{seconds}:
        # No more than one waits.
        if took["units"] < sent:
            time.sleep(0.005)
            continue
        with open("%s/@{stem}-%d.part" % (FOLDER, sent), "wb") as out:
            out.write(b"upload %d" % sent)
        os.rename("%s/@{stem}-%d.part" % (FOLDER, sent), "%s/@{stem}-%d.new" % (FOLDER, sent))
        sent += 1
        arrived.release()
        time.sleep(max(0.0, began + sent / @{rate} - time.monotonic()))
    over.set()
    arrived.release()
    worker.join()
    with open("@{report}", "w") as out:
        json.dump(took, out)


main()
