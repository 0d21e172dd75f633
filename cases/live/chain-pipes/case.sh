WEIGHT=3
NEEDS="cc node"
ONLY_LIVE=1
FIRES=(waits-for-pipe)
SAYS=("in the end for archive (" "sleeps" "keep_pace (archive.c:")
CALM=(fixed)

build() { cc -g -O1 -o archive "$here/archive.c"; }

# The producer alone is named to the recorder; all three are children of a shell.
recorded_producer() {
    local recording=$1 how=$2 part
    begin_chain
    # shellcheck disable=SC2016  # expanded by the inner shell
    link_of_chain bash -c '
        { echo "$BASHPID" >"$0.produce"; exec node "$1/produce.js"; } |
            { echo "$BASHPID" >"$0.convert"; exec python3 "$1/convert.py"; } |
            { echo "$BASHPID" >"$0.archive"; exec ./archive "$2"; }' "$recording" "$here" "$how"
    for part in produce convert archive; do
        until_true 50 test -s "$recording.$part" || return 1
        chain+=("$(cat "$recording.$part")")
    done
    record_chain "$recording" "$(cat "$recording.produce")"
}

slow() { recorded_producer slow slowly; }
fixed() { recorded_producer fixed at-once; }
