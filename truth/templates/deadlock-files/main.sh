#!/bin/bash
# Backs up and tidies up: both need the catalogue and the store.
exec 7<> <(:)
nap=$(awk 'BEGIN { printf "%.4f", @{nap} / 1000 }')

@{fn}() {
    local done=$1 until
    exec 8>>"$2"
    flock 8
    [[ @{nap} == 0.0 ]] || read -r -t "$nap" <&7
    exec 9>>"$3"
    flock 9
    until=$((${EPOCHREALTIME/./} + ${4%.*}))
    while ((${EPOCHREALTIME/./} < until)); do :; done
    printf . >>"$done"
    exec 9>&- 8>&-
}

repeat() {
    local pause
    pause=$(awk -v f="$1" 'BEGIN { printf "%.4f", @{gap} / 1000 * f }')
    exec 7<> <(:)
    while :; do
        @{fn} "${@:2}"
        read -r -t "$pause" <&7
    done
}

inside=$(awk 'BEGIN { printf "%d", @{inside} * 1000 }')
repeat 10 done-a @{one} @{two} "$inside" &
first=$!
if ((@{order})); then
    repeat 13 done-b @{one} @{two} "$inside" &
else
    repeat 13 done-b @{two} @{one} "$inside" &
fi
second=$!
read -r -t @{seconds} <&7
kill -KILL "$first" "$second"
units=$(cat done-a done-b)
echo "{\"units\": ${#units}, \"seconds\": @{seconds}}" >@{report}
