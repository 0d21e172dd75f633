# Sleeping programs only; several recorders at once.
WEIGHT=3
# What waits in queues is in no trace.
ONLY_LIVE=1
FIRES=(pipe-slow/waits-for-timer unix-slow/waits-for-timer tcp-slow/waits-for-timer)
CALM=(pipe-idle unix-idle tcp-idle)

# recorded NAME KIND PAUSE EVERY: a worker whose tasks take PAUSE seconds and come each EVERY seconds.
recorded() {
    local name=$1 kind=$2 pause=$3 every=$4 where="" worker
    trap stop_all EXIT
    started=()
    case $kind in
        own) background python3 "$here/worker.py" own "$pause" && worker=$pid ;;
        pipe)
            python3 "$here/worker.py" pipe "$pause" < <(exec python3 "$here/feed.py" pipe "$every") >>"$work/program.log" 2>&1 &
            worker=$!
            started+=("$worker")
            ;;
        *)
            where=$work/$name.socket
            [ "$kind" = unix ] || where=$(free_port)
            background python3 "$here/worker.py" "$kind" "$pause" "$where"
            worker=$pid
            until_true 100 listens "$kind" "$where" || return 1
            background python3 "$here/feed.py" "$kind" "$every" "$where"
            ;;
    esac
    attach "$name" "$worker" || return 1
    sleep 3
    detach
    # With the one that gives it tasks, where it has forked it.
    pkill -TERM -P "$worker" 2>/dev/null
    return 0
}
listens() { if [ "$1" = unix ]; then test -S "$2"; else listening "$2"; fi; }

# at_once: NAME KIND PAUSE EVERY… each in a shell of its own.
at_once() {
    local running=() one status=0
    while [ $# -gt 0 ]; do
        (recorded "$1" "$2" "$3" "$4") &
        running+=($!)
        shift 4
    done
    for one in "${running[@]}"; do
        wait "$one" || status=1
    done
    return $status
}

slow() {
    at_once pipe-slow pipe 0.1 0.02 unix-slow unix 0.1 0.02 tcp-slow tcp 0.1 0.02 own-slow own 0.1 0 &&
        at_once pipe-idle pipe 0.001 0.7 unix-idle unix 0.001 0.7 tcp-idle tcp 0.001 0.7
}
also() { python3 "$here/check.py" recorded; }
