WEIGHT=4
NEEDS="cc"
FIRES=(seek-per-read)
FIRST="seek-per-read|small-reads"
NAMES=("seek-per-read: records.bin")
GONE=(seek-per-read)

build() { cc -O1 -pthread -o slow "$here/index.c" && cc -O1 -pthread -DFIXED -o fixed "$here/index.c"; }
slow() { run_traced slow ./slow; }
fixed() { run_traced fixed ./fixed; }
