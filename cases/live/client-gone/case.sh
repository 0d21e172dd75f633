WEIGHT=4
BESIDE=1
NEEDS="redis-server redis-cli"
REDIS_PORT=$(free_port)
FIRES=(client-gone)
FIRST="client-gone"
NAMES=("client-gone: HMGET" "client-gone: 127.0.0.1:$REDIS_PORT" "client-gone: relation:series:1234:check")
GONE=(client-gone)


# The service for five seconds, its clients giving up after 0.6 s; $2 is for how many ms Redis answers nobody, each second.
recorded_service() {
    local recording=$1 stalled_ms=$2 redis_port=$3 port
    background redis-server --port "$redis_port" --bind 127.0.0.1 --save '' --dir "$work"
    local redis=$pid
    until_true 100 listening "$redis_port" || return 1
    redis-cli -p "$redis_port" hset relation:series:1234:check follows 1 followed 2 >/dev/null
    port=$(free_port)
    background python3 "$here/service.py" "$port" "$redis_port"
    local service=$pid
    until_true 100 listening "$port" || return 1
    attach "$recording" "$service" || return 1
    python3 "$here/../load.py" "$port" /user/relations 4 2 0.6 &
    for _ in 1 2; do
        sleep 0.4
        [ "$stalled_ms" = 0 ] || redis-cli -p "$redis_port" client pause "$stalled_ms" >/dev/null
        sleep 1.6
    done
    wait $!
    detach
    kill "$service" "$redis"
    wait "$service" "$redis" 2>/dev/null
}

slow() { recorded_service slow 1200 "$REDIS_PORT"; }
fixed() { recorded_service fixed 0 "$(free_port)"; }
