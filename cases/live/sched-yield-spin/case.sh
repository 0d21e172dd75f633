WEIGHT=4
NEEDS="cc"
FIRES=(sched-yield-spin)
FIRST="sched-yield-spin"
QUIET="beside others a yield gives the CPU away, and does not spin"
GONE=(sched-yield-spin)

build() { cc -O1 -pthread -o slow "$here/spin.c" && cc -O1 -pthread -DFIXED -o fixed "$here/spin.c"; }
slow() { run_traced slow ./slow; }
fixed() { run_traced fixed ./fixed; }
