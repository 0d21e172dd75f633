WEIGHT=2
BESIDE=1
NEEDS="cc"
FIRES=(deadlock)
FIRST="deadlock"
NAMES=("deadlock: 0x")
GONE=(deadlock)

build() { cc -O1 -pthread -o slow "$here/two_locks.c" && cc -O1 -pthread -DFIXED -o fixed "$here/two_locks.c"; }

# It hangs, and then somebody looks: that takes more than a second, which is what the rule asks for to be sure.
slow() {
    background ./slow
    local hanging=$pid
    until_true 100 hangs "$hanging" || return 1
    attach slow "$hanging" || return 1
    sleep 3
    detach
    kill "$hanging"
}
# All of its three threads sleep.
hangs() {
    [ "$(grep -l '^State:.S' "/proc/$1"/task/*/status 2>/dev/null | wc -l)" = 3 ]
}
fixed() { run_traced fixed ./fixed; }
