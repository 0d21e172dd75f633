#!/bin/bash
# Checks the entries of a batch; what is said of each goes to the trace.
set -u
exec 3>>/dev/null

@{fn}() {
    local i
    for ((i = 0; i < traced; i++)); do
        printf '%d of %d: %s\n' "$i" "$1" "$entry" >&3
    done
}

@{fn2}() {
    local i
    for ((i = 0; i < checks; i++)); do
        sum=$(((sum * 31 + i) % 1000003))
    done
}

items=$((@{items} / 4)) traced=@{traced} checks=$((@{items} / 40))
[ "$traced" -le "$items" ] || traced=$items
printf -v entry '%*s' @{width} ''
entry=${entry// /e}
first=${EPOCHREALTIME/./}
read -r pause end < <(awk -v items="$items" -v first="$first" 'BEGIN { printf "%.0f %.0f\n", items * 12 / @{load}, first + @{seconds} * 1e6 }')
units=0 busy=0 culprit=0 sum=7
exec 4<> <(:)
while :; do
    start=${EPOCHREALTIME/./}
    [ "$start" -lt "$end" ] || break
    @{fn2}
    before=${EPOCHREALTIME/./}
    @{fn} "$units"
    now=${EPOCHREALTIME/./}
    units=$((units + 1)) busy=$((busy + now - start)) culprit=$((culprit + now - before))
    rest=$((first + units * pause - now))
    if [ "$rest" -gt 0 ]; then
        printf -v rest '%d.%06d' $((rest / 1000000)) $((rest % 1000000))
        read -r -t "$rest" -u 4 _
    fi
done
awk -v u=$units -v b=$busy -v c=$culprit 'BEGIN { printf "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", u, b / 1e6, c / 1e6 }' > "@{report}"
