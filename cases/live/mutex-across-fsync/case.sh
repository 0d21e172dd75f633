NEEDS="go"
DISK=1
FIRES=(fsync-per-write)
FIRST="fsync-per-write"
NAMES=("fsync-per-write: ledger.log")
# Who is held up by whose sync no trace of threads tells: Go's runtime parks them, whatever their goroutines wait for.

# strace makes each sync take 4 ms more, so that the truth holds on any disk; a recorder in the kernel cannot.
TRACE_WITH="$STRACE -e inject=fsync,fdatasync:delay_enter=4000"
ready() { [ -z "$LIVE" ] || sync_takes_time || skip "a sync takes next to no time here"; }
build() { GO111MODULE=off go build -o ledger "$here/ledger.go"; }

# The service under the load of eight clients for two seconds; $2 is its setting.
recorded_service() {
    local recording=$1 port
    shift
    port=$(free_port)
    background ./ledger "$port" "$work/ledger.log" "$@"
    local service=$pid
    until_true 100 listening "$port" || return 1
    attach "$recording" "$service" || return 1
    python3 "$here/../load.py" "$port" /order 2 8 10 0.005
    detach
    kill "$service"
    wait "$service" 2>/dev/null
    return 0
}
slow() { recorded_service slow; }
fixed() { recorded_service fixed grouped; }
