"""The hosts whose backups come in: an archive again and again under new names, each told through a pipe."""
import io
import random
import tarfile
import time


def archive():
    out, chance = io.BytesIO(), random.Random(11)
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for number in range(@{files}):
            one = tarfile.TarInfo(f"srv/data/{number % 17}/object-{number:05}.bin")
            one.size = int(@{kb} * 1024 * chance.uniform(0.6, 1.4))
            tar.addfile(one, io.BytesIO(chance.randbytes(one.size)))
    return out.getvalue()


def main():
    text = archive()
    with open("@{work}/arrivals", "w") as arrivals:
        number, due = 0, time.monotonic()
        while True:
            number += 1
            path = f"@{work}/@{inbox}/@{stem}-{number:05}.tar"
            with open(path, "wb") as out:
                out.write(text)
            print(path, file=arrivals, flush=True)
            due = max(due + 1 / @{rate}, time.monotonic() - 1)
            time.sleep(max(0.0, due - time.monotonic()))


try:
    main()
except BrokenPipeError:
    pass
