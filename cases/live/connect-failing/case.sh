WEIGHT=2
PORT=$(free_port)
FIRES=(connect-failing)
FIRST="connect-failing"
NAMES=("connect-failing: 127.0.0.1:$PORT")
GONE=(connect-failing)

slow() { run_traced slow python3 "$here/report.py" "$PORT"; }
fixed() {
    background python3 -m http.server --bind 127.0.0.1 "$PORT"
    until_true 100 listening "$PORT" && run_traced fixed python3 "$here/report.py" "$PORT"
}
