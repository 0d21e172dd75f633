ONLY_LIVE=1
NEEDS="taskset"
FIRES=(run-queue-delay)
FIRST="run-queue-delay|affinity-pinned"
NAMES=("run-queue-delay: hog.py")
GONE=(run-queue-delay)
# With nobody beside it the same service has nothing to say.
CALM=(alone)

ready() { [ "$(nproc)" -gt 1 ] || skip "one CPU only"; }

# The service on CPU 0 under load for two and a half seconds, the jobs on CPU $2 with the nice value $3; without a CPU there are none.
recorded_service() {
    local recording=$1 cpu=$2 port service jobs=()
    port=$(free_port)
    background taskset -c 0 python3 "$here/../cpu-throttled/service.py" "$port"
    service=$pid
    until_true 100 listening "$port" || return 1
    for _ in ${cpu:+1 2}; do
        background nice -n "$3" taskset -c "$cpu" python3 "$here/hog.py"
        jobs+=("$pid")
    done
    attach "$recording" "$service" || return 1
    # The client has the other CPU: only the jobs are beside the service.
    taskset -c 1 python3 "$here/../load.py" "$port" / 2.5 1 10 0.03
    detach
    kill "$service" "${jobs[@]}"
    wait "$service" "${jobs[@]}" 2>/dev/null
    return 0
}
slow() { recorded_service alone "" && recorded_service slow 0 0; }
fixed() { recorded_service fixed 1 19; }
