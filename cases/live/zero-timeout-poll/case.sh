WEIGHT=4
NEEDS="cc"
FIRES=(zero-timeout-poll)
FIRST="zero-timeout-poll"
GONE=(zero-timeout-poll)

build() { cc -O1 -pthread -o slow "$here/look.c" && cc -O1 -pthread -DFIXED -o fixed "$here/look.c"; }
slow() { run_traced slow ./slow; }
fixed() { run_traced fixed ./fixed; }
