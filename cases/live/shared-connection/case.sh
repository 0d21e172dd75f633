WEIGHT=2
BESIDE=1
NEEDS="cc"
PORT=$(free_port)
FIRES=(lock-contention lock-held-across-io wait-chain)
FIRST="lock-held-across-io"
NAMES=("wait-chain: 127.0.0.1:$PORT")
GONE=(lock-contention)

build() {
    cc -O1 -g -fno-omit-frame-pointer -pthread -o slow "$here/client.c" &&
        cc -O1 -g -fno-omit-frame-pointer -pthread -DFIXED -o fixed "$here/client.c"
}
prepare() { background python3 "$here/prices.py" "$PORT" && until_true 100 listening "$PORT"; }
slow() { run_traced slow ./slow "$PORT"; }
fixed() { run_traced fixed ./fixed "$PORT"; }
