#!/bin/bash
# Takes pages in: one part numbers them, one cleans them, one fetches them from the scanner.
exec 7<> <(:)
mkfifo to-clean to-fetch fetched cleaned 2>/dev/null

fetch() {
    local line page
    while read -r line; do
        echo "$line" >&5
        read -r page <&6
        echo "$page"
    done
}

clean() {
    local line page until
    while read -r line; do
        echo "$line" >&8
        read -r page <&9
        until=$((${EPOCHREALTIME/./} + $1))
        while ((${EPOCHREALTIME/./} < until)); do page=${page// /_}; done
        echo "$page"
    done
}

@{fn}() {
    echo "$1" >&3
    read -r page <&4
}

exec 3<>to-clean 4<>cleaned 8<>to-fetch 9<>fetched 5>orders 6<@{fifo}
effort=$(awk 'BEGIN { printf "%d", @{effort} * 1000 }')
fetch <to-fetch >fetched &
children=($!)
clean "$effort" <to-clean >cleaned &
children+=($!)
began=${EPOCHREALTIME/./} units=0 busy=0
end=$(awk 'BEGIN { printf "%d", @{seconds} * 1000000 }')
every=$(awk 'BEGIN { printf "%.4f", @{every} / 1000 }')
while start=${EPOCHREALTIME/./}; ((start - began < end)); do
    @{fn} "page-$units"
    ((busy += ${EPOCHREALTIME/./} - start, units++))
    read -r -t "$every" <&7
done
kill "${children[@]}"
awk -v u=$units -v b=$busy -v e=$effort 'BEGIN { c = b - u * e; if (c < 0) c = 0
    printf "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}\n", u, b / 1e6, c / 1e6 }' >@{report}
