DISK=1
FIRES=(fsync-per-write)
FIRST="fsync-per-write"
NAMES=("fsync-per-write: audit.log")
GONE=(fsync-per-write)

# A device with a protected cache, or tmpfs, syncs at once: there is nothing to show on it.
ready() { sync_takes_time || skip "a sync takes next to no time here"; }

# The server with all its processes attached, under load for two seconds; $2 is its setting.
recorded_server() {
    local recording=$1 setting=$2 port children forked
    port=$(free_port)
    # shellcheck disable=SC2086  # no setting is no argument
    python3 "$here/server.py" "$port" "$work/audit.log" $setting >children.pids 2>>"$work/program.log" &
    pid=$!
    started+=("$pid")
    until_true 100 listening "$port" || return 1
    until_true 100 test -s children.pids || return 1
    children=$(tr ' ' ',' <children.pids)
    read -ra forked <children.pids
    started+=("${forked[@]}")
    attach "$recording" "$pid,$children" || return 1
    python3 "$here/../load.py" "$port" /order 2 3
    detach
    # shellcheck disable=SC2046
    kill "$pid" $(cat children.pids) 2>/dev/null
    wait "$pid" 2>/dev/null
    return 0
}
slow() { recorded_server slow ""; }
fixed() { recorded_server fixed grouped; }
