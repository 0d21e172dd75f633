NEEDS="go"
# What is computed between the calls is in no trace.
ONLY_LIVE=1
CONNECTIONS=10000
SECONDS_EACH=2

build() {
    cp "$here/agent.go" . && GOCACHE=${GOCACHE:-$HOME/.cache/go-build} go build -o agent agent.go
}

# version NAME: runs one and profiles it by both ways, into recorded/NAME.http.top and recorded/NAME.pid.top.
version() {
    ./agent "$1" $((SECONDS_EACH + 2)) "$CONNECTIONS" >"$1.log" 2>&1 &
    local agent=$!
    started+=("$agent")
    until_true 100 grep -q connections "$1.log" || return 1
    local address
    address=$(sed -n 's/^pprof //p' "$1.log")
    "$WHYSLOW" profile "http://$address" --seconds "$SECONDS_EACH" top --cum --nodecount 400 >"recorded/$1.http.top" 2>>whyslow.log &
    local fetching=$!
    "$WHYSLOW" profile -p "$agent" --seconds "$SECONDS_EACH" top --cum --nodecount 400 >"recorded/$1.pid.top" 2>>whyslow.log || return 1
    wait "$fetching" || return 1
    wait "$agent"
    grep rounds "$1.log" >"recorded/$1.rounds"
}

check_recordings() {
    mkdir -p recorded
    local each
    for each in fields goroutines racy position; do
        version "$each" || { cat ./*.log; echo "live case: $name: $each failed"; return 1; }
    done
    python3 "$here/check.py" "$name" recorded
}
