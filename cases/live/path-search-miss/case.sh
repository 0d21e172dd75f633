WEIGHT=4
NEEDS="cc"
FIRES=(path-search-miss)
FIRST="path-search-miss"
GONE=(path-search-miss)

# A lookup takes a microsecond: less than 0.1 s of them is a start-up that nobody minds. Under strace each takes much longer.
directories=$([ -n "$LIVE" ] && echo 400 || echo 60)
# Else the recorder counts from the first tenth of a second on, and the lookups that it saw until then are no more than a start-up.
RECORD_WITH="--mode full"
prepare() {
    local number
    for number in $(seq "$directories"); do mkdir "include-$number"; done
    for number in $(seq 600); do
        echo "int part_$number;" >"include-$directories/part_$number.h"
        echo "#include <part_$number.h>"
    done >all.c
}
search_path() { seq -f '-Iinclude-%g' "$directories"; }
# shellcheck disable=SC2046  # a list of options
slow() { run_traced slow cc -E -o all.i $(search_path) all.c; }
fixed() { run_traced fixed cc -E -o all.i "-Iinclude-$directories" all.c; }
