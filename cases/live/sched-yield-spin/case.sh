NEEDS="cc"
FIRES=(sched-yield-spin)
FIRST="sched-yield-spin"
GONE=(sched-yield-spin)

build() { cc -O1 -pthread -o slow "$here/spin.c" && cc -O1 -pthread -DFIXED -o fixed "$here/spin.c"; }
slow() { run_traced slow ./slow; }
fixed() { run_traced fixed ./fixed; }
