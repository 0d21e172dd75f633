WEIGHT=4
NEEDS="cc"
FIRES=(small-writes)
FIRST="small-writes"
NAMES=("small-writes: records.csv")
GONE=(small-writes)

build() { cc -O1 -pthread -o slow "$here/export.c" && cc -O1 -pthread -DFIXED -o fixed "$here/export.c"; }
slow() { run_traced slow ./slow; }
fixed() { run_traced fixed ./fixed; }
