WEIGHT=4
PORT=$(free_port)
FIRES=(connection-per-request)
FIRST="connection-per-request"
NAMES=("connection-per-request: 127.0.0.1:$PORT")
GONE=(connection-per-request)

slow() {
    background python3 "$here/server.py" "$PORT"
    until_true 100 listening "$PORT" && run_traced slow python3 "$here/client.py" "$PORT"
}
fixed() { run_traced fixed python3 "$here/client.py" "$PORT" keep; }
