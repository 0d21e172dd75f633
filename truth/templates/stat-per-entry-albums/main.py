"""Takes photos onto a shelf, and makes the page of the album after each: how many photos and folders it has."""
import json
import os
import time

SHELF = "@{work}/@{shelf}"
PREVIEW = bytes(range(256)) * 12
listing = 0.0


def @{fn}(album):
    """The photos of an album, and the folders in it."""
    global listing
    start = time.perf_counter()
    photos, folders = [], []
    if "@{kinds}" == "ask":
        for name in os.listdir(album):
            path = os.path.join(album, name)
            (folders if os.path.isdir(path) else photos).append(name)
    else:
        with os.scandir(album) as entries:
            for entry in entries:
                (folders if entry.is_dir() else photos).append(entry.name)
    listing += time.perf_counter() - start
    return photos, folders


def newest(album, photos):
    return max(os.stat(os.path.join(album, name)).st_mtime for name in photos)


def take(album, number):
    with open(os.path.join(album, f"new-{number:05}.jpg"), "wb") as photo:
        photo.write(PREVIEW)


def page(number):
    album = os.path.join(SHELF, str(number % @{albums} + 1))
    take(album, number)
    photos, folders = @{fn}(album)
    changed = newest(album, photos) if @{newest} and number % (@{newest} + 1) == @{newest} else None
    return json.dumps({"album": album, "first": sorted(photos)[:24], "photos": len(photos), "folders": sorted(folders), "changed": changed})


def main():
    begin = time.perf_counter()
    units = busy = 0
    with open("@{work}/pages.jsonl", "w") as out:
        while time.perf_counter() - begin < @{seconds}:
            start = time.perf_counter()
            out.write(page(units) + "\n")
            units += 1
            busy += time.perf_counter() - start
            time.sleep(max(0.0, begin + units / @{rate} - time.perf_counter()))
    with open("@{report}", "w") as report:
        json.dump({"units": units, "seconds": busy, "culprit": listing}, report)


main()
