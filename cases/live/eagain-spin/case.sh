WEIGHT=4
NEEDS="cc"
FIRES=(eagain-spin)
FIRST="eagain-spin"
GONE=(eagain-spin)

build() { cc -O1 -pthread -o slow "$here/drain.c" && cc -O1 -pthread -DFIXED -o fixed "$here/drain.c"; }

slow() { run_traced slow ./slow; }
fixed() { run_traced fixed ./fixed; }
