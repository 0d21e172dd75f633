WEIGHT=2
NEEDS="javac"
FIRES=(duplicate-write write-to-dev-null)
FIRST="duplicate-write|write-to-dev-null"
NAMES=("duplicate-write: service.log" "duplicate-write: /dev/null" "write-to-dev-null: /dev/null")
GONE=(duplicate-write write-to-dev-null)
CALM=(fixed)

build() { javac -d . "$here/Service.java"; }

# The service under load for two seconds, attached as in production; $2… are settings of the JVM.
recorded_service() {
    local recording=$1 port
    shift
    port=$(free_port)
    java -Xshare:auto -XX:+UseSerialGC "$@" -cp "$work" Service "$port" "$work/service.log" >/dev/null 2>>"$work/service.err" &
    pid=$!
    started+=("$pid")
    until_true 100 listening "$port" || return 1
    # What the first requests need (a JVM loads its classes) is none of it.
    python3 "$here/../load.py" "$port" /feed 5/60 4
    attach "$recording" "$pid" || return 1
    # Paced: at full speed the lines that are left would be a flood of their own where recording does not slow the service.
    python3 "$here/../load.py" "$port" /feed 2 2 10 0.005
    detach
    kill "$pid"
}

slow() { recorded_service slow; }
fixed() { recorded_service fixed -Dappender.console=off; }
