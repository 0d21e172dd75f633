WEIGHT=4
PORT=$(free_port)
FIRES=(oversized-payload)
FIRST="oversized-payload"
NAMES=("oversized-payload: 127.0.0.1:$PORT")
GONE=(oversized-payload)

slow() {
    background python3 "$here/store.py" "$PORT"
    until_true 100 listening "$PORT" && run_traced slow python3 "$here/report.py" "$PORT"
}
fixed() { run_traced fixed python3 "$here/report.py" "$PORT" one; }
