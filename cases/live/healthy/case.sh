WEIGHT=3
NEEDS="git gcc grep tar redis-server redis-benchmark"
CALM=(all)

prepare() {
    mkdir tree
    cp -r /usr/include/linux tree/
    (cd tree && git init -q && git add . && git -c user.name=a -c user.email=a@example.com commit -q -m all)
    printf '#include <stdio.h>\nint main(void) { return printf("hello\\n") < 0; }\n' >hello.c
}

# recorded_redis NAME LOAD_S: redis-server attached, under redis-benchmark or idle.
recorded_redis() {
    local port
    port=$(free_port)
    background redis-server --port "$port" --bind 127.0.0.1 --save '' --dir "$work"
    until_true 100 listening "$port" || return 1
    attach "$1" "$pid" || return 1
    if [ "$2" = busy ]; then
        timeout 5 redis-benchmark -h 127.0.0.1 -p "$port" -n 8000 -c 10 -t set,get,lpush -q >/dev/null
    else
        sleep 2
    fi
    detach
    kill "$pid"
}

slow() {
    run_traced ls ls -lR tree
    run_traced git-status git -C tree status
    run_traced python-import python3 -c 'import json, http.server, sqlite3'
    run_traced grep grep -r ioctl tree/linux
    run_traced tar tar czf tree.tgz tree
    run_traced gcc gcc -O1 -o hello hello.c
    run_traced python-static-server timeout 4 python3 "$here/serve_and_ask.py"
    recorded_redis redis-busy busy
    recorded_redis redis-idle idle
}
