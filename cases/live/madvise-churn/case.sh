WEIGHT=4
NEEDS="cc"
FIRES=(madvise-churn)
FIRST="madvise-churn"
GONE=(madvise-churn)

build() { cc -O1 -pthread -o slow "$here/arena.c" && cc -O1 -pthread -DFIXED -o fixed "$here/arena.c"; }
slow() { run_traced slow ./slow; }
fixed() { run_traced fixed ./fixed; }
