ONLY_LIVE=1
NEEDS="taskset"
FIRES=(run-queue-delay)
FIRST="run-queue-delay|affinity-pinned"
GONE=(run-queue-delay)

ready() { [ "$(nproc)" -gt 1 ] || skip "one CPU only"; }
build() { :; }

# The service on CPU 0 under load for three seconds, the jobs on CPU $2.
recorded_service() {
    local recording=$1 cpu=$2 port service
    port=$(free_port)
    background taskset -c 0 python3 "$here/../cpu-throttled/service.py" "$port"
    service=$pid
    until_true 100 listening "$port" || return 1
    background nice -n "$3" taskset -c "$cpu" python3 "$here/hog.py"
    local first=$pid
    background nice -n "$3" taskset -c "$cpu" python3 "$here/hog.py"
    attach "$recording" "$service" || return 1
    python3 "$here/../load.py" "$port" / 3 1
    detach
    kill "$service" "$first" "$pid"
    wait "$service" "$first" "$pid" 2>/dev/null
    return 0
}
slow() { recorded_service slow 0 0; }
fixed() { recorded_service fixed 1 19; }
