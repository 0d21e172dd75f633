WEIGHT=4
NEEDS="cc"
FIRES=(epoll-hup-spin)
FIRST="epoll-hup-spin"
GONE=(epoll-hup-spin)

build() { cc -O1 -pthread -o slow "$here/loop.c" && cc -O1 -pthread -DFIXED -o fixed "$here/loop.c"; }

slow() { run_traced slow timeout 1 ./slow; true; }
fixed() { run_traced fixed timeout 1 ./fixed; true; }
