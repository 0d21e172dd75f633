WEIGHT=3
NEEDS="ruby node perl"
STORE=$(free_port)
FIRES=(n-plus-one-queries)
NAMES=("n-plus-one-queries: 127.0.0.1:$STORE (unknown protocol)")
GONE=(n-plus-one-queries)

prepare() {
    BOARD=$(free_port)
    background perl "$here/store.pl" "$STORE"
    background ruby "$here/board.rb" "$BOARD"
    until_true 100 listening "$STORE" && until_true 100 listening "$BOARD"
}

# The proxy and the service are recorded, under load for three seconds.
recorded_baskets() {
    local recording=$1 port service_port service proxy
    shift
    service_port=$(free_port)
    background ruby "$here/baskets.rb" "$service_port" "$STORE" "$BOARD" "$@"
    service=$pid
    until_true 100 listening "$service_port" || return 1
    port=$(free_port)
    background node "$here/proxy.js" "$port" "$service_port"
    proxy=$pid
    until_true 100 listening "$port" || return 1
    attach "$recording" "$proxy,$service" || return 1
    python3 "$here/clients.py" "$port" 3 || return 1
    detach
    kill "$proxy" "$service"
    wait "$proxy" "$service" 2>/dev/null
    echo "$service_port" >"$recording.port"
}
slow() { recorded_baskets slow; }
fixed() { recorded_baskets fixed at-once; }

# A request through the proxy is one, and the board is asked nothing.
also() {
    local recording table wrong=0
    for recording in slow fixed; do
        # shellcheck disable=SC2046  # a list of captures
        table=$("$WHYSLOW" requests --json $(captures "$recording"))
        says "A request to 127.0.0.1:[0-9]+ goes through: of [0-9.]+ m?s, [0-9.]+ m?s in [^\"]*127.0.0.1:$(cat "$recording.port")" ||
            { echo "wrong: $recording: a request through the proxy is not one: $(echo "$table" | grep -E 'goes through|Ambiguous')"; wrong=1; }
        says '"protocol": "unknown protocol"' || { echo "wrong: $recording: no protocol is said to be unknown"; wrong=1; }
        ! says "127.0.0.1:$BOARD" || { echo "wrong: $recording: the board is taken for a server"; wrong=1; }
    done
    return "$wrong"
}
says() { echo "$table" | grep -Eq "$1"; }
