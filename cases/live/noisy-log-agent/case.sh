ONLY_LIVE=1
OWN="^(logagent|agent|redis)"
NEEDS="cc redis-server redis-benchmark"
FIRES=(repeated-stat)
FIRST="repeated-stat"
NAMES=("repeated-stat: logagent" "repeated-stat: logs/*")
GONE=(repeated-stat)

build() {
    cc -O2 -pthread -o agent "$here/agent.c"
    mkdir logs
    local number
    for number in $(seq 0 25); do
        echo x >"logs/target-$number" && ln -s "target-$number" "logs/service-$number.log"
    done
}

# The host for two seconds: the agent ($2 is its setting) beside a Redis server under some load.
recorded_host() {
    local recording=$1 setting=$2 port redis agent
    port=$(free_port)
    background redis-server --port "$port" --bind 127.0.0.1 --save '' --dir "$work"
    redis=$pid
    until_true 100 listening "$port" || return 1
    # shellcheck disable=SC2086  # no setting is no argument
    background ./agent "$work/logs" $setting
    agent=$pid
    attach_host "$recording" || return 1
    timeout 3 redis-benchmark -h 127.0.0.1 -p "$port" -n 2000 -c 4 -t get -q >/dev/null
    sleep 1.7
    detach
    kill "$agent" "$redis"
    wait "$agent" "$redis" 2>/dev/null
    return 0
}
slow() { recorded_host slow ""; }
fixed() { recorded_host fixed calm; }
