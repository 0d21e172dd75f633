NEEDS="go"
# What is computed between the calls is in no trace.
ONLY_LIVE=1
CONNECTIONS=10000
SECONDS_EACH=2

build() {
    cp "$here/agent.go" . && GOCACHE=${GOCACHE:-$HOME/.cache/go-build} go build -o agent agent.go
}

# version NAME: runs one and profiles it by both ways, into recorded/NAME.http.pprof and recorded/NAME.pid.pprof, with their tables and
# diagnoses.
version() {
    ./agent "$1" $((SECONDS_EACH + 2)) "$CONNECTIONS" >"$1.log" 2>&1 &
    local agent=$!
    started+=("$agent")
    until_true 100 grep -q connections "$1.log" || return 1
    local address
    address=$(sed -n 's/^pprof //p' "$1.log")
    "$WHYSLOW" profile "http://$address" --seconds "$SECONDS_EACH" proto -o "recorded/$1.http.pprof" 2>>whyslow.log &
    local fetching=$!
    "$WHYSLOW" profile --hz 499 -p "$agent" --seconds "$SECONDS_EACH" -o "recorded/$1.pid.pprof" 2>>whyslow.log || return 1
    wait "$fetching" || return 1
    wait "$agent"
    grep rounds "$1.log" >"recorded/$1.rounds"
    local by
    for by in http pid; do
        "$WHYSLOW" profile "recorded/$1.$by.pprof" top --cum --nodecount 400 >"recorded/$1.$by.top" 2>>whyslow.log &&
            "$WHYSLOW" diagnose --json "recorded/$1.$by.pprof" >"recorded/$1.$by.json" 2>>whyslow.log || return 1
    done
}

check_recordings() {
    mkdir -p recorded
    local each
    for each in fields goroutines racy position; do
        version "$each" || { cat ./*.log; echo "live case: $name: $each failed"; return 1; }
    done
    "$WHYSLOW" diff --json recorded/fields.pid.pprof recorded/position.pid.pprof >recorded/diff.json 2>>whyslow.log ||
        { cat ./*.log; echo "live case: $name: no diff"; return 1; }
    python3 "$here/check.py" "$name" recorded
}
