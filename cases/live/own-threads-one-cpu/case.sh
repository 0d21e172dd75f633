WEIGHT=4
ONLY_LIVE=1
NEEDS="cc taskset"
FIRES=(too-many-threads)
# Where others take the CPU as well, that is told first, with their names.
FIRST="too-many-threads|affinity-pinned|run-queue-delay"
NAMES=("too-many-threads: own threads (order-worker")
QUIET="beside others it is they who have the CPU"
GONE=(too-many-threads)

build() { cc -O1 -pthread -o slow "$here/workers.c" && cc -O1 -pthread -DFIXED -o fixed "$here/workers.c"; }

# For three seconds, some time after its start: who has just started is not judged by what it took.
recorded_program() {
    background taskset -c 0 "./$1"
    local program=$pid
    sleep 2.5
    attach "$1" "$program" || return 1
    sleep 3
    detach
    kill "$program"
    wait "$program" 2>/dev/null
    return 0
}
slow() { recorded_program slow; }
fixed() { recorded_program fixed; }

# The workers wait for each other: the account says so, with whoever else ran there, and no finding calls it a queue behind others.
also() {
    python3 - recorded/slow.json <<'CHECK'
import json, sys

diagnosis = json.load(open(sys.argv[1]))
queues = [row for row in diagnosis["account"]["rows"] if row["state"] == "run-queue"]
runners = [one for row in queues for one in row.get("meanwhile", [])]
own = sum(one["ns"] for one in runners if one["is_own"] and "order-worker" in one["who"])
told, waited = sum(one["ns"] for one in runners), sum(row["ns"] for row in queues)
if told > waited:
    print(f"{told} ns had the CPU while {waited} ns were waited")
    sys.exit(1)
if not own or told < 0.5 * waited:
    print(f"own threads had the CPU for {own} ns, others for {told - own} ns, of {waited} ns")
    sys.exit(1)
for finding in diagnosis["findings"]:
    if finding["id"] == "run-queue-delay" and own >= 0.9 * waited and finding["severity"] != "notice":
        print("a queue behind own threads is a warning:", finding["title"])
        sys.exit(1)
CHECK
}
