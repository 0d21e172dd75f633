ONLY_LIVE=1
NEEDS="gcc redis-server redis-benchmark gzip"
CALM=(all)
OWN="^(redis|gcc|cc1|as|collect2|ld|gzip)"

build() {
    printf '#include <stdio.h>\nint main(void) { return printf("hello\\n") < 0; }\n' >hello.c
}
prepare() { head -c 4000000 /dev/urandom >random; }

recorded_idle() {
    attach_host idle || return 1
    sleep 3
    detach
}

recorded_busy() {
    local port redis
    port=$(free_port)
    background redis-server --port "$port" --bind 127.0.0.1 --save '' --dir "$work"
    redis=$pid
    until_true 100 listening "$port" || return 1
    attach_host busy || return 1
    timeout 5 redis-benchmark -h 127.0.0.1 -p "$port" -n 20000 -c 5 -t get,set -q >/dev/null
    gcc -O1 -o hello hello.c
    gzip -k -f random
    detach
    kill "$redis"
    wait "$redis" 2>/dev/null
    return 0
}

slow() {
    recorded_idle && recorded_busy
}
