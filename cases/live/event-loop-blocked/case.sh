WEIGHT=3
WAITS=(poll)
knows event-loop-blocked && WAITS=() && FIRES=(event-loop-blocked) && GONE=(event-loop-blocked)


# The service for two and a half seconds: one client asks for reports, three for prices. $2 is its setting.
recorded_service() {
    local recording=$1 port
    shift
    port=$(free_port)
    background python3 "$here/prices.py" "$port" "$@"
    local service=$pid
    until_true 100 listening "$port" || return 1
    attach "$recording" "$service" || return 1
    python3 "$here/../load.py" "$port" /report 2.4 1 10 0.05 &
    python3 "$here/../load.py" "$port" /price 2.4 3 10 0.01
    wait $!
    detach
    kill "$service"
    wait "$service" 2>/dev/null
    return 0
}
slow() { recorded_service slow; }
fixed() { recorded_service fixed pool; }
