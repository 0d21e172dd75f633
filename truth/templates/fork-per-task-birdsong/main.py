"""Takes recordings of bird song into the archive: who sings, how loud, and the line in the index by which it is found again."""
import array
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import time

VOICES = {"bittern": 900, "owl": 2500, "blackbird": 4800, "wren": 5400, "goldcrest": 7000}
RATE = 22050


class Index:
    def __init__(self):
        self.lines, self.known = [], {}

    def @{fn}(self, path):
        """Sum, length and day of a recording."""
        if @{outside}:
            tell = lambda *command: subprocess.run(command, capture_output=True, text=True, check=True).stdout
            total = tell("/usr/bin/sha256sum", str(path)).split()[0]
            length = int(tell("/usr/bin/wc", "-c", str(path)).split()[0])
            day = tell("/usr/bin/date", "-u", "-r", str(path), "+%Y-%m-%d").strip()
        else:
            total = hashlib.sha256(path.read_bytes()).hexdigest()
            state = path.stat()
            length, day = state.st_size, time.strftime("%Y-%m-%d", time.gmtime(state.st_mtime))
        return total, length, day

    def add(self, path, voice, loud):
        total, length, day = self.@{fn}(path)
        first = self.known.setdefault(total, path.name)
        self.lines.append(f"{path.stem}\t{day}\t{voice}\t{loud:.1f}\t{length / 2 / RATE:.2f} s\t{total[:16]}{'' if first == path.name else ' = ' + first}")


def heard(path):
    """Who sings, by how often the wave crosses zero; and how loud."""
    samples = array.array("h", path.read_bytes())
    crossings, power = 0, 0
    for before, sample in zip(samples[::3], samples[3::3]):
        crossings += (before < 0) != (sample < 0)
        power += sample * sample
    pitch = crossings * 3 / len(samples) * RATE / 2
    return min(VOICES, key=lambda voice: abs(VOICES[voice] - pitch)), (power * 3 / len(samples)) ** 0.5


def pack(folder, names):
    """What came since the last pack, as the tape wants it."""
    subprocess.run(["/usr/bin/tar", "-cf", f"{folder}-{names[0]}.tar", "-C", str(folder), *names], check=True)


def main():
    folder = pathlib.Path(sys.argv[1])
    recordings = sorted(folder.glob("*.pcm"))
    index, packed, fresh = Index(), time.monotonic(), []
    units, busy, spent = 0, 0.0, 0.0
    began = time.monotonic()
    while time.monotonic() - began < @{seconds}:
        start = time.monotonic()
        path = recordings[units % len(recordings)]
        voice, loud = heard(path)
        asked = time.monotonic()
        index.add(path, voice, loud)
        spent += time.monotonic() - asked
        fresh.append(path.name)
        units += 1
        busy += time.monotonic() - start
        if @{pack_s} and time.monotonic() - packed > @{pack_s}:
            pack(folder, fresh)
            packed, fresh = time.monotonic(), []
        time.sleep(max(0.0, began + units / @{rate} - time.monotonic()))
    (folder / os.pardir / "index.tsv").write_text("\n".join(index.lines) + "\n")
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": spent}, out)


main()
