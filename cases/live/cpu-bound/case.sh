WEIGHT=3
NEEDS="cc"
# System calls do not show what a program computes: there are next to none.
ONLY_LIVE=1
FIRES=(cpu-bound)
FIRST="cpu-bound"
NAMES=("cpu-bound: count_duplicates")
GONE=(cpu-bound)

build() {
    cc -O1 -g -fno-omit-frame-pointer -o slow "$here/score.c" -lm &&
        cc -O1 -g -fno-omit-frame-pointer -DFIXED -o fixed "$here/score.c" -lm
}
slow() { run_traced slow ./slow; }
fixed() { run_traced fixed ./fixed; }
