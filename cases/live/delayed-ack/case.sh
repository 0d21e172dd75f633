WEIGHT=2
BESIDE=1
PORT=$(free_port)
WAITS=(network)
knows delayed-ack && FIRES=(delayed-ack) && NAMES=("delayed-ack: 127.0.0.1:$PORT") && GONE=(delayed-ack)

# with_server NAME PORT [nodelay]: it serves one client at a time.
with_server() {
    background python3 "$here/answer.py" "$2"
    until_true 100 listening "$2" && run_traced "$1" python3 "$here/ask.py" "${@:2}"
}
slow() { with_server slow "$PORT"; }
fixed() { with_server fixed "$(free_port)" nodelay; }
