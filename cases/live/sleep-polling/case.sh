WEIGHT=2
BESIDE=1
NEEDS="cc"
FIRES=(sleep-polling)
FIRST="sleep-polling"
NAMES=("sleep-polling: result")
GONE=(sleep-polling)

build() { cc -O1 -pthread -o slow "$here/wait_for_results.c" && cc -O1 -pthread -DFIXED -o fixed "$here/wait_for_results.c"; }

# Each in a folder of its own, because both call their result the same.
slow() { mkdir -p results-slow && run_traced slow env -C results-slow ../slow; }
fixed() { mkdir -p results-fixed && run_traced fixed env -C results-fixed ../fixed; }
