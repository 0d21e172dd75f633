WEIGHT=4
FIRES=(temp-file-churn)
FIRST="temp-file-churn"
NAMES=("temp-file-churn: /tmp/{uuid}/{n}.txt")
GONE=(temp-file-churn)
# Only a trace without -f can miss threads.
[ -n "$LIVE" ] || { FIRES+=(main-thread-only/threads-missed) && CALM=(main-thread-only); }


# app.py under load for two seconds; $2 is its setting, TRACE_WITH another way to trace.
recorded_app() {
    local recording=$1 setting=$2 port
    port=$(free_port)
    # shellcheck disable=SC2086  # no setting is no argument
    background python3 "$here/app.py" "$port" $setting
    until_true 100 listening "$port" || return 1
    attach "$recording" "$pid" || return 1
    python3 "$here/../load.py" "$port" /popular_word 2 1
    detach
    kill "$pid"
}

slow() {
    recorded_app slow ""
    # The riddle of the source: without -f only the thread that accepts is traced, and no write is seen.
    [ -n "$LIVE" ] || TRACE_WITH="strace -ttT -s 256" recorded_app main-thread-only ""
}
fixed() { recorded_app fixed memory; }
