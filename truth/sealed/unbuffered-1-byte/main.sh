#!/bin/bash
# Sums up the deliveries that the courier announces.
set -u

@{fn}() {  # the lines of one delivery
    local key rest
    lines=0 total=0
    if [ @{block} -eq 1 ]; then
        while IFS=';' read -r key rest; do
            lines=$((lines + 1)) total=$((total + 10#$key % 100))
        done < <(tr -d '\r' < "$1")
    else
        read -r lines total < <(tr -d '\r' < "$1" | awk -F';' '{ n++; sum += $1 % 100 } END { print n, sum }')
    fi
}

@{fn2}() {  # what the operator typed
    local key i
    for ((i = 0; i < @{heads}; i++)); do
        read -r -n 1 key
    done
}

exec 3<>/dev/tcp/127.0.0.1/@{port}
rows=$((@{rows} / 2 + 300))
awk -v factor=@{load} -v rows=$rows -v row=@{row} 'BEGIN { printf "%.3f %d\n", factor / (rows * (15e-6 + row * 0.5e-6)) < 4 ? factor / (rows * (15e-6 + row * 0.5e-6)) : 4, rows }' >&3
first=${EPOCHREALTIME/./}
end=$(awk -v now="$first" 'BEGIN { printf "%.0f", now + @{seconds} * 1e6 }')
units=0 busy=0
while read -r -u 3 path; do
    start=${EPOCHREALTIME/./}
    if [ @{heads} -gt 0 ]; then
        @{fn2} < "$path"
    fi
    if [ "@{variant}" = healthy ]; then wc -l < "$path" >/dev/null; else @{fn} "$path"; fi
    rm -f "$path"
    now=${EPOCHREALTIME/./}
    units=$((units + 1)) busy=$((busy + now - start))
    [ "$now" -lt "$end" ] || break
done
awk -v units=$units -v busy=$busy 'BEGIN { printf "{\"units\": %d, \"seconds\": %f}", units, busy / 1e6 }' > "@{report}"
