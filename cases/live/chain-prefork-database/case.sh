WEIGHT=4
NEEDS="node perl psql"
ONLY_LIVE=1
SERVER_BIN=$(dirname "$(find /usr/lib/postgresql /usr/local/bin /usr/bin -name initdb 2>/dev/null | sort -V | tail -n 1)" 2>/dev/null)
# The server refuses to run as root.
[ "$(id -u)" != 0 ] || AS_OTHER="setpriv --reuid=postgres --regid=postgres --clear-groups"
SAYS=("in the end for batch.py (" "sleeps" "print_report (batch.py:")
CALM=(fixed)

ready() { [ -x "$SERVER_BIN/initdb" ] || skip "no PostgreSQL server here"; }

prepare() {
    DATABASE_PORT=$(free_port)
    chmod 711 "$work"
    mkdir database && chmod 700 database && { [ -z "${AS_OTHER:-}" ] || chown postgres database; }
    # shellcheck disable=SC2086  # a command and its words
    (cd database && $AS_OTHER "$SERVER_BIN/initdb" -N -A trust -U shop -E UTF8 --no-locale -D "$work/database/data") &&
        (cd database && background $AS_OTHER "$SERVER_BIN/postgres" -D "$work/database/data" -p "$DATABASE_PORT" -F \
            -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c shared_buffers=16MB && echo "$pid" >../database.pid)
    started+=("$(cat database.pid)")
    until_true 100 ask_database -c "SELECT 1" &&
        ask_database -c "CREATE TABLE seats (id int PRIMARY KEY, taken int, counted int); INSERT INTO seats VALUES (1, 0, 0)"
}
ask_database() { psql -q -h 127.0.0.1 -p "$DATABASE_PORT" -U shop -d postgres "$@"; }

# The client alone is named to the recorder; $2 is where the batch takes its time.
recorded_client() {
    local recording=$1 how=$2 port
    port=$(free_port)
    begin_chain
    link_of_chain python3 "$here/batch.py" "$DATABASE_PORT" "$how"
    link_of_chain perl "$here/prefork.pl" "$port" "$DATABASE_PORT"
    until_true 100 listening "$port" || return 1
    # shellcheck disable=SC2046  # its workers
    chain+=($(cat "/proc/$pid/task/$pid/children"))
    link_of_chain node "$here/client.js" "$port"
    record_chain "$recording" "$pid"
}

slow() { recorded_client slow inside; }
fixed() { recorded_client fixed behind; }
