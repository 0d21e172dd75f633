WEIGHT=4
NEEDS="cc"
FIRES=(signal-storm)
FIRST="signal-storm"
NAMES=("signal-storm: SIGALRM")
GONE=(signal-storm)

build() { cc -O1 -pthread -o slow "$here/ticks.c" && cc -O1 -pthread -DFIXED -o fixed "$here/ticks.c"; }
slow() { run_traced slow ./slow; }
fixed() { run_traced fixed ./fixed; }
