"""What each recording must say of demand: check.py FOLDER prints each thing that is wrong."""
import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
SLOW = {"pipe": "pipe_bytes", "unix": "accept_queue", "tcp": "accept_queue"}
ENOUGH = 4
wrong = []


def queues(name):
    return json.loads((folder / f"{name}.json").read_text())["account"].get("demand", {}).get("queues", [])


for kind, what in SLOW.items():
    lasting = [one for one in queues(f"{kind}-slow") if one["kind"] == what and one["samples"] >= ENOUGH and one["waited"] >= 0.75 * one["samples"]]
    if not lasting:
        wrong.append(f"{kind}-slow does not say that work waited: {queues(f'{kind}-slow')}")
    idle = queues(f"{kind}-idle")
    if not any(one["kind"] == what and one["samples"] >= ENOUGH for one in idle):
        wrong.append(f"{kind}-idle has no samples: {idle}")
    # A task may come just before a sample.
    if any(one["waited"] > 0.25 * one["samples"] for one in idle):
        wrong.append(f"{kind}-idle says that work waited: {idle}")
if queues("own-slow"):
    wrong.append(f"own-slow knows what nobody can: {queues('own-slow')}")
for line in wrong:
    print(f"wrong: {line}")
sys.exit(bool(wrong))
