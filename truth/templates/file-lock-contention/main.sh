#!/bin/bash
# Rotates the parts of a catalogue: some workers, one series of numbers.
exec 7<> <(:)
began=${EPOCHREALTIME/./}
end=$(awk 'BEGIN { printf "%d", @{seconds} * 1000000 }')
keep=$(awk 'BEGIN { printf "%.4f", @{keep} / 1000 }')
period=$(awk 'BEGIN { printf "%d", 1000000 / @{pace} }')

@{fn}() {
    local before=
    ((number % @{block})) && { ((number++)); return; }
    before=${EPOCHREALTIME/./}
    exec 9>>@{lockfile}
    flock 9
    ((waited += ${EPOCHREALTIME/./} - before))
    read -r number <series
    [[ @{keep} == 0.0 ]] || read -r -t "$keep" <&7
    echo $((number + @{block})) >series
    ((number = number / @{block} * @{block} + 1))
    exec 9>&-
}

rotate() {
    local units=0 busy=0 waited=0 number=0 start rest due
    exec 7<> <(:)
    while start=${EPOCHREALTIME/./}; ((start - began < end)); do
        @{fn}
        ((units++, busy += ${EPOCHREALTIME/./} - start))
        ((rest = began + units * period + $1 * 20000 - ${EPOCHREALTIME/./}))
        if ((rest > 0)); then
            printf -v due '%d.%06d' $((rest / 1000000)) $((rest % 1000000))
            read -r -t "$due" <&7
        fi
    done
    echo "$units $busy $waited" >"sum-$1"
}

lead() {
    exec 8<leader.pid
    flock 8
    exec sleep 600
}

leaders=() workers=()
for ((i = 0; i < 2 * @{standby}; i++)); do
    lead &
    leaders+=($!)
done
for ((i = 0; i < @{workers}; i++)); do
    rotate "$i" &
    workers+=($!)
done
wait "${workers[@]}"
((${#leaders[@]})) && kill "${leaders[@]}"
cat sum-* | awk '{ u += $1; b += $2; w += $3 } END { printf "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}\n", u, b / 1e6, w / 1e6 }' >@{report}
