NEEDS="cc"
FIRES=(sleep-polling)
FIRST="sleep-polling"
NAMES=("sleep-polling: result")
GONE=(sleep-polling)

build() { cc -O1 -pthread -o slow "$here/wait_for_results.c" && cc -O1 -pthread -DFIXED -o fixed "$here/wait_for_results.c"; }

slow() { run_traced slow ./slow; }
fixed() { run_traced fixed ./fixed; }
