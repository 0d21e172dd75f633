WEIGHT=4
NEEDS="cc"
FIRES=(unbuffered-1-byte)
FIRST="unbuffered-1-byte|small-reads"
NAMES=("unbuffered-1-byte: words.txt")
GONE=(unbuffered-1-byte)

build() { cc -O1 -pthread -o slow "$here/count_lines.c" && cc -O1 -pthread -DFIXED -o fixed "$here/count_lines.c"; }

words() { seq 1 1000 >words.txt; }
slow() { words && run_traced slow ./slow words.txt; }
fixed() { words && run_traced fixed ./fixed words.txt; }
