PORT=$(free_port)
WAITS=(network)

build() { background python3 "$here/answer.py" "$PORT"; }
slow() { until_true 100 listening "$PORT" && run_traced slow python3 "$here/ask.py" "$PORT"; }
fixed() { run_traced fixed python3 "$here/ask.py" "$PORT" nodelay; }
