WEIGHT=4
NEEDS="cc"
FIRES=(lock-contention)
FIRST="lock-contention"
NAMES=("lock-contention: 0x")
GONE=(lock-contention)
# What the holder was doing stands in no system call: its stack tells.
[ -z "$LIVE" ] || NAMES+=("lock-contention: rebuild_index")

build() {
    cc -O1 -g -fno-omit-frame-pointer -pthread -o slow "$here/index.c" &&
        cc -O1 -g -fno-omit-frame-pointer -pthread -DFIXED -o fixed "$here/index.c"
}
slow() { run_traced slow ./slow; }
fixed() { run_traced fixed ./fixed; }
