NEEDS="cc"
FIRES=(path-search-miss)
FIRST="path-search-miss"
GONE=(path-search-miss)

build() {
    local number
    for number in $(seq 1 60); do mkdir "include-$number"; done
    for number in $(seq 1 600); do
        echo "int part_$number;" >"include-60/part_$number.h"
        echo "#include <part_$number.h>"
    done >all.c
}
search_path() { seq -f '-Iinclude-%g' 1 60; }
# shellcheck disable=SC2046  # a list of options
slow() { run_traced slow cc -E -o all.i $(search_path) all.c; }
fixed() { run_traced fixed cc -E -o all.i -Iinclude-60 all.c; }
