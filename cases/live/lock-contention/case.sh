WEIGHT=2
BESIDE=1
NEEDS="cc"
FIRES=(lock-contention)
FIRST="lock-contention"
NAMES=("lock-contention: 0x")
GONE=(lock-contention)

build() { cc -O1 -pthread -o slow "$here/one_lock.c" && cc -O1 -pthread -DFIXED -o fixed "$here/one_lock.c"; }

slow() { run_traced slow ./slow; }
fixed() { run_traced fixed ./fixed; }
