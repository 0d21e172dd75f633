# Its goroutines take more than one CPU.
WEIGHT=6
NEEDS="go"
# What is computed between the calls is in no trace.
ONLY_LIVE=1
CONNECTIONS=10000
SECONDS_EACH=1
FIRES=(fields.pid/text-parsing)
NAMES=("text-parsing: main.readByFields")
SHARES=("fields.http cum >= 3: strings\.Fields" "position.http cum <= 0: strings\.Fields" "fields.pid cum >= 3: strings\.Fields" "position.pid cum <= 0: strings\.Fields")
# Of a goroutine a line the work is in the goroutines.
for by in http pid; do
    SHARES+=("fields.$by cum >= 40: ^main\.readByFields" "goroutines.$by cum >= 40: ^main\.readByGoroutines(\.func1)?"
        "racy.$by cum >= 40: ^main\.readRacy(\.func1)?" "position.$by cum >= 40: ^main\.readByPosition")
done

build() {
    cp "$here/agent.go" . && GOCACHE=${GOCACHE:-$HOME/.cache/go-build} go build -o agent agent.go
}

# version NAME: runs one and profiles it by both ways, into recorded/NAME.http.pprof and recorded/NAME.pid.pprof, with their tables.
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
        "$WHYSLOW" profile "recorded/$1.$by.pprof" top --cum --nodecount 400 >"recorded/$1.$by.top" 2>>whyslow.log || return 1
    done
}

slow() { version fields && version goroutines && version racy; }
fixed() { version position; }
compared() {
    "$WHYSLOW" diff --json recorded/fields.pid.pprof recorded/position.pid.pprof >recorded/diff.json 2>diff.err || failed "no diff" diff.err
}
also() { python3 "$here/check.py" recorded; }
