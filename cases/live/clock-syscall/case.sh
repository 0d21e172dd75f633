WEIGHT=4
NEEDS="cc"
FIRES=(clock-syscall)
FIRST="clock-syscall"
GONE=(clock-syscall)

build() { cc -O1 -pthread -o slow "$here/stamp.c" && cc -O1 -pthread -DFIXED -o fixed "$here/stamp.c"; }
slow() { run_traced slow ./slow; }
fixed() { run_traced fixed ./fixed; }
