WEIGHT=2
BESIDE=1
PORT=$(free_port)
FIRES=(retry-storm)
NAMES=("retry-storm: GET /price/" "retry-storm: 127.0.0.1:$PORT")
GONE=(retry-storm)

prepare() { background python3 "$here/prices.py" "$PORT" && until_true 100 listening "$PORT"; }
slow() { run_traced slow python3 "$here/orders.py" "$PORT"; }
fixed() { run_traced fixed python3 "$here/orders.py" "$PORT" patient; }
