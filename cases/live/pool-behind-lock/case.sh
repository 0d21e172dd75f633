WEIGHT=2
NEEDS="javac redis-server redis-cli"
REDIS_PORT=$(free_port)
FIRES=(client-gone downstream-timeout wait-chain)
NAMES=(
    "client-gone: EPIPE" "client-gone: a lock"
    "client-gone: SMEMBERS catalog:items" "client-gone: 127.0.0.1:$REDIS_PORT"
    "wait-chain: SMEMBERS catalog:items" "wait-chain: 127.0.0.1:$REDIS_PORT"
    "downstream-timeout: GET /catalog/items"
)
GONE=(client-gone downstream-timeout wait-chain)

build() { javac -d . "$here/Catalog.java"; }

# Both services for five seconds; Redis serves nobody for 2.2 s, twice.
recorded_services() {
    local recording=$1 port feed_port redis catalog feed
    shift
    background redis-server --port "$REDIS_PORT" --bind 127.0.0.1 --save '' --dir "$work" --enable-debug-command local
    redis=$pid
    until_true 100 listening "$REDIS_PORT" || return 1
    redis-cli -p "$REDIS_PORT" sadd catalog:items bread butter cheese milk salt >/dev/null
    port=$(free_port)
    background java -Xshare:auto -XX:+UseSerialGC "$@" -cp "$work" Catalog "$port" "$REDIS_PORT"
    catalog=$pid
    until_true 100 listening "$port" || return 1
    feed_port=$(free_port)
    background python3 "$here/feed.py" "$feed_port" "$port"
    feed=$pid
    until_true 100 listening "$feed_port" || return 1
    # What the first requests need (a JVM loads its classes) is none of it.
    python3 "$here/../load.py" "$feed_port" /feed 5/60 6
    attach "$recording" "$catalog,$feed" || return 1
    # Paced: at full speed the services would be busy with healthy requests.
    python3 "$here/../load.py" "$feed_port" /feed 5 6 10 0.03 &
    for _ in 1 2; do
        sleep 0.2
        redis-cli -p "$REDIS_PORT" debug sleep 2.2 >/dev/null
    done
    wait $!
    detach
    kill "$feed" "$catalog" "$redis"
    wait "$feed" "$catalog" "$redis" 2>/dev/null
    return 0
}

slow() { recorded_services slow; }
fixed() { recorded_services fixed -Drefresh=behind; }
