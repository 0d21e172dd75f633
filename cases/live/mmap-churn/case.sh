WEIGHT=4
NEEDS="cc"
FIRES=(mmap-churn)
FIRST="mmap-churn"
GONE=(mmap-churn)

build() { cc -O1 -o slow "$here/resize.c" && cc -O1 -DFIXED -o fixed "$here/resize.c"; }
slow() { run_traced slow ./slow; }
fixed() { run_traced fixed ./fixed; }
