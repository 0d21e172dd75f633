PORT=$(free_port)
FIRES=(downstream-timeout)
FIRST="downstream-timeout"
NAMES=("downstream-timeout: 127.0.0.1:$PORT")
GONE=(downstream-timeout)

build() { :; }
with_server() {
    background python3 "$here/stock.py" "$PORT" "$1"
    local server=$pid
    until_true 100 listening "$PORT" && run_traced "$2" python3 "$here/order.py" "$PORT"
    kill "$server"
    wait "$server" 2>/dev/null
    return 0
}
slow() { with_server silent slow; }
fixed() { with_server answering fixed; }
