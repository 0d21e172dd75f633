WEIGHT=2
BESIDE=1
PORT=$(free_port)
FIRES=(downstream-timeout)
FIRST="downstream-timeout"
NAMES=("downstream-timeout: 127.0.0.1:$PORT")
GONE=(downstream-timeout)

with_server() {
    background python3 "$here/stock.py" "$3" "$1"
    until_true 100 listening "$3" && run_traced "$2" python3 "$here/order.py" "$3"
}
slow() { with_server silent slow "$PORT"; }
fixed() { with_server answering fixed "$(free_port)"; }
