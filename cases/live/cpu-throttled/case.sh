WEIGHT=2
ONLY_LIVE=1
FIRES=(cpu-throttled)
FIRST="cpu-throttled"
NAMES=("cpu-throttled: whyslow-live")
GONE=(cpu-throttled)

ready() { new_group cpu || skip "no control group with the cpu controller can be made here"; }

# The service under load for two and a half seconds, with $2 ms of CPU in each 100 ms.
recorded_service() {
    local recording=$1 quota=$2 port
    port=$(free_port)
    set_quota "$quota" || return 1
    background python3 "$here/service.py" "$port"
    echo "$pid" >"$group_dir/cgroup.procs" || return 1
    until_true 100 listening "$port" || return 1
    attach "$recording" "$pid" || return 1
    python3 "$here/../load.py" "$port" / 2.5 1
    detach
    kill "$pid"
    wait "$pid" 2>/dev/null
    return 0
}
slow() { recorded_service slow 20; }
fixed() { recorded_service fixed 200; }
