"""Sends the photos of damages to the archive."""
import http.client
import json
import select
import time

PHOTO = bytes(range(256)) * 4 * @{kilobytes}


class Archive(http.client.HTTPConnection):
    """Lets the archive say, before the photo is on its way, whether it takes it."""

    asking = 0.0

    def @{fn}(self, number, photo):
        self.putrequest("PUT", f"/claims/{number}", skip_accept_encoding=True)
        self.putheader("Content-Type", "image/jpeg")
        self.putheader("Content-Length", str(len(photo)))
        if @{ask}:
            self.putheader("Expect", "100-continue")
            self.endheaders()
            start = time.perf_counter()
            # http.client passes over the answer 100 by itself.
            select.select([self.sock], [], [], @{patience} / 1000)
            self.asking += time.perf_counter() - start
        else:
            self.endheaders()
        self.send(photo)
        answer = self.getresponse()
        return answer.status, int(answer.read())


def main():
    archive = Archive("127.0.0.1", @{archive})
    begin, busy, units = time.perf_counter(), 0.0, 0
    while time.perf_counter() - begin < @{seconds}:
        start = time.perf_counter()
        status, _ = archive.@{fn}(units, units.to_bytes(8, "big") + PHOTO)
        if status != 201:
            raise SystemExit(f"the archive answered {status}")
        units += 1
        busy += time.perf_counter() - start
        time.sleep(max(0.0, begin + units / @{rate} - time.perf_counter()))
    archive.close()
    with open("@{report}", "w") as report:
        json.dump({"units": units, "seconds": busy, "culprit": archive.asking}, report)


main()
