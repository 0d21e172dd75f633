WEIGHT=4
NEEDS="cc"
FIRES=(close-range-loop)
FIRST="close-range-loop"
GONE=(close-range-loop)

build() { cc -O1 -pthread -o slow "$here/spawn.c" && cc -O1 -pthread -DFIXED -o fixed "$here/spawn.c"; }

slow() { (ulimit -n 20000 && run_traced slow ./slow); }
fixed() { (ulimit -n 20000 && run_traced fixed ./fixed); }
