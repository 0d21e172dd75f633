PORT=$(free_port)
WAITS=(network)
knows delayed-ack && FIRES=(delayed-ack) && NAMES=("delayed-ack: 127.0.0.1:$PORT") && GONE=(delayed-ack)

build() { background python3 "$here/answer.py" "$PORT"; }
slow() { until_true 100 listening "$PORT" && run_traced slow python3 "$here/ask.py" "$PORT"; }
fixed() { run_traced fixed python3 "$here/ask.py" "$PORT" nodelay; }
