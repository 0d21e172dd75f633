"""Takes what a service prints and keeps it with the time and the service's name, as the platform wants it."""
import json
import os
import time

pipe = os.open("@{work}/@{pipe}", os.O_RDWR)
open("@{work}/logship.ready", "w").close()
rest, kept = b"", open("@{work}/shipped.jsonl", "w")
while True:
    rest += os.read(pipe, 4096)
    *lines, rest = rest.split(b"\n")
    for line in lines:
        kept.write(json.dumps({"at": time.time(), "service": "@{app}", "text": line.decode()}) + "\n")
    if kept.tell() > 20 << 20:
        kept.seek(0)
        kept.truncate()
    time.sleep(@{pause})
