WEIGHT=3
NEEDS="git cc make"
CALM=(all)
SERVER_BIN=$(dirname "$(find /usr/lib/postgresql /usr/local/bin /usr/bin -name initdb 2>/dev/null | sort -V | tail -n 1)" 2>/dev/null)
# The server refuses to run as root.
[ "$(id -u)" != 0 ] || AS_OTHER="setpriv --reuid=postgres --regid=postgres --clear-groups"

has() { command -v "$1" >/dev/null 2>&1; }

build() {
    ! has go || GO111MODULE=off go build -o hello "$here/hello.go" || return 1
    ! has javac || javac -d . "$here/Hello.java"
}

prepare() {
    local n
    mkdir tree site
    cp -r /usr/include/linux tree/
    (cd tree && git init -q && git add . && git -c user.name=a -c user.email=a@example.com commit -q -m all)
    mkdir made
    for n in 1 2 3 4 5 6; do
        printf '#include <stdio.h>\nint f%d(int n) { return n > 0 ? printf("%%d", n) : 0; }\n' "$n" >"made/f$n.c"
    done
    printf 'f.a: f1.o f2.o f3.o f4.o f5.o f6.o\n\tar rcs $@ $^\n' >made/Makefile
    for n in $(seq 200); do echo "<p>page $n</p>"; done >site/index.html
}

# asked NAME PID PORT: that process, under the load of four clients that pause between their requests. What a first request needs (a JVM
# loads its classes) is none of it.
asked() {
    python3 "$here/../load.py" "$3" / 5/50 4
    attach "$1" "$2" || return 1
    python3 "$here/../load.py" "$3" / 2/300 4 10 0.01
    detach
    kill "$2"
    wait "$2" 2>/dev/null
    return 0
}

recorded_nginx() {
    local port master
    port=$(free_port)
    mkdir nginx
    cat >nginx/nginx.conf <<CONF
daemon off;
worker_processes 1;
error_log stderr;
pid $work/nginx/pid;
events {}
http {
    access_log off;
    client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
    server { listen 127.0.0.1:$port; root $work/site; }
}
CONF
    chmod 755 "$work"
    background nginx -p "$work/nginx" -c nginx.conf
    master=$pid
    until_true 100 listening "$port" || return 1
    asked nginx "$(pgrep -P "$master" | head -n 1)" "$port"
    kill "$master"
}

recorded_postgres() {
    local port
    port=$(free_port)
    chmod 711 "$work"
    mkdir database && chmod 700 database && { [ -z "${AS_OTHER:-}" ] || chown postgres database; }
    # shellcheck disable=SC2086  # a command and its words
    (cd database && $AS_OTHER "$SERVER_BIN/initdb" -N -A trust -U bench -E UTF8 --no-locale -D "$work/database/data") >/dev/null || return 1
    # shellcheck disable=SC2086
    (cd database && background $AS_OTHER "$SERVER_BIN/postgres" -D "$work/database/data" -p "$port" -F -c listen_addresses=127.0.0.1 \
        -c unix_socket_directories= -c shared_buffers=16MB && echo "$pid" >../database.pid)
    started+=("$(cat database.pid)")
    until_true 100 psql -q -h 127.0.0.1 -p "$port" -U bench -d postgres -c "SELECT 1" || return 1
    pgbench -h 127.0.0.1 -p "$port" -U bench -i -q postgres >/dev/null 2>&1 || return 1
    # The client is recorded with its own process; the server's processes come with their parent.
    attach postgres "$(cat database.pid)" || return 1
    timeout 20 pgbench -h 127.0.0.1 -p "$port" -U bench -S -c 2 -T 2 --rate 150 postgres >/dev/null 2>&1
    detach
    return 0
}

slow() {
    local port
    run_traced git-clone git clone -q tree cloned
    run_traced make make -s -j2 -C made
    if has nginx; then recorded_nginx; fi
    if [ -x hello ]; then
        port=$(free_port)
        background ./hello "$port"
        until_true 100 listening "$port" && asked go "$pid" "$port"
    fi
    if [ -f Hello.class ]; then
        port=$(free_port)
        background java -XX:+UseSerialGC -cp . Hello "$port"
        until_true 100 listening "$port" && asked java "$pid" "$port"
    fi
    if [ -x "$SERVER_BIN/initdb" ] && has pgbench; then recorded_postgres; fi
}
