WEIGHT=2
ONLY_LIVE=1
DISK=1
FIRES=(waits-for-pipe)
NAMES=("waits-for-pipe: consume.py" "waits-for-pipe: fsync")

ready() { sync_takes_time || skip "a sync takes no time here: the consumer would not be slow"; }

# The producer alone is named to the recorder; both are children of a shell.
recorded_producer() {
    local recording=$1 how=$2 producer consumer
    # shellcheck disable=SC2016  # expanded by the inner shell
    background bash -c '
        { echo "$BASHPID" >"$0.producer"; exec python3 "$1/produce.py"; } |
            { echo "$BASHPID" >"$0.consumer"; exec python3 "$1/consume.py" "$0.log" "$2"; }' "$recording" "$here" "$how"
    until_true 50 test -s "$recording.producer" -a -s "$recording.consumer" || return 1
    producer=$(cat "$recording.producer") consumer=$(cat "$recording.consumer")
    sleep 0.5
    attach "$recording" "$producer" || return 1
    sleep 6
    detach
    kill "$producer" "$consumer"
    wait "$pid" 2>/dev/null
    return 0
}

slow() { recorded_producer slow each; }
fixed() { recorded_producer fixed thousand; }
