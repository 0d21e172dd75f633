WEIGHT=3
NEEDS="nginx psql"
PYTHON=$here/../../../target/python/bin/python3
SERVER_BIN=$(dirname "$(find /usr/lib/postgresql /usr/local/bin /usr/bin -name initdb 2>/dev/null | sort -V | tail -n 1)" 2>/dev/null)
# The server refuses to run as root.
[ "$(id -u)" != 0 ] || AS_OTHER="setpriv --reuid=postgres --regid=postgres --clear-groups"
FIRES=(n-plus-one-queries)
NAMES=("n-plus-one-queries: SELECT name, price FROM items WHERE order_id = ?" "n-plus-one-queries: GET /orders/{id}")
GONE=(n-plus-one-queries)
# nginx's requests are the shop's again: 60 queries in two of them.
ASKS=("30: SELECT name, price FROM items WHERE order_id = ?")

ready() {
    [ -x "$SERVER_BIN/initdb" ] || skip "no PostgreSQL server here"
    "$PYTHON" -c "import psycopg2" 2>/dev/null || skip "no psycopg2 in target/python (scripts/setup test)"
}

prepare() {
    DATABASE_PORT=$(free_port)
    chmod 711 "$work"
    mkdir database && chmod 700 database && { [ -z "${AS_OTHER:-}" ] || chown postgres database; }
    # shellcheck disable=SC2086  # a command and its words
    (cd database && $AS_OTHER "$SERVER_BIN/initdb" -N -A trust -U shop -E UTF8 --no-locale -D "$work/database/data") &&
        (cd database && background $AS_OTHER "$SERVER_BIN/postgres" -D "$work/database/data" -p "$DATABASE_PORT" -F \
            -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c shared_buffers=16MB && echo "$pid" >../database.pid)
    started+=("$(cat database.pid)")
    until_true 100 ask_database -d postgres -c "SELECT 1" && ask_database -d postgres -c "CREATE DATABASE shop" &&
        ask_database -d shop -f "$here/shop.sql"
}
ask_database() { psql -q -h 127.0.0.1 -p "$DATABASE_PORT" -U shop "$@"; }

# The shop behind nginx, both recorded, under load for two seconds.
recorded_shop() {
    local recording=$1 port shop_port shop nginx worker
    shift
    shop_port=$(free_port)
    background "$PYTHON" "$here/shop.py" "$shop_port" "$DATABASE_PORT" "$@"
    shop=$pid
    until_true 100 listening "$shop_port" || return 1
    port=$(free_port)
    mkdir -p "nginx-$recording"
    cat >"nginx-$recording/nginx.conf" <<CONF
daemon off;
worker_processes 1;
error_log stderr;
pid $work/nginx-$recording/pid;
events {}
http {
    access_log off;
    client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
    upstream shop { server 127.0.0.1:$shop_port; keepalive 4; }
    server {
        listen 127.0.0.1:$port;
        location / { proxy_pass http://shop; proxy_http_version 1.1; proxy_set_header Connection ""; }
    }
}
CONF
    background nginx -p "$work/nginx-$recording" -c nginx.conf
    nginx=$pid
    until_true 100 listening "$port" || return 1
    worker=$(pgrep -P "$nginx" | head -n 1)
    attach "$recording" "$shop,$worker" || return 1
    python3 "$here/../load.py" "$port" /orders/7 2 2 10 0.02
    detach
    kill "$nginx" "$shop"
    wait "$nginx" "$shop" 2>/dev/null
    return 0
}
slow() { recorded_shop slow; }
fixed() { recorded_shop fixed joined; }
