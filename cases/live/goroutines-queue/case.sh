NEEDS="go"
# Where goroutines wait is in the program's memory: strace does not see it.
ONLY_LIVE=1
WEIGHT=1
FIRES=(lock-contention channel/goroutines-queue)
NAMES=("lock-contention: main.reserve" "lock-contention: HTTP answer" "channel/goroutines-queue: main.send")
FIRST="lock-held-across-io"
SAYS=("the lock at main.reserve")
GONE=(lock-contention lock-held-across-io)
build() { GO111MODULE=off go build -o stock "$here/stock.go"; }
prepare() {
    port=$(free_port)
    background ./stock behind "$port"
    until_true 100 listening "$port"
}
slow() { run_traced slow ./stock mutex "$port" && run_traced channel ./stock channel "$port"; }
fixed() { run_traced fixed ./stock split "$port" && run_traced receivers ./stock receivers "$port"; }
# Whoever receives at once keeps nobody waiting; and where all wait for answers, the account says where.
also() {
    ! grep -q '"id": *"goroutines-queue"' recorded/receivers.json || { echo "goroutines-queue where sixteen receive"; return 1; }
    grep -q '"function": *"main.ask"' recorded/fixed.json || { echo "not told: main.ask waits for the answer"; return 1; }
}
