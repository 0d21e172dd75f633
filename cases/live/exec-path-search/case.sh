WEIGHT=4
NEEDS="cc"
FIRES=(exec-path-search)
FIRST="exec-path-search|fork-per-task"
NAMES=("exec-path-search: convert-item")
GONE=(exec-path-search)

build() {
    local number
    for number in $(seq 1 40); do mkdir "bin-$number"; done
    printf 'int main(void) { return 0; }\n' >convert-item.c && cc -o bin-40/convert-item convert-item.c
}
search_path() { seq -f "$work/bin-%g" 1 40 | paste -sd:; }
slow() { run_traced slow python3 "$here/items.py" "$(search_path)" convert-item; }
fixed() { run_traced fixed python3 "$here/items.py" "$(search_path)" "$work/bin-40/convert-item"; }
