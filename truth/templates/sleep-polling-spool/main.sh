#!/bin/bash
# Hands documents to the converter, one after another, and takes the answers.
exec 5<>orders 6<>answers 7<> <(:)
began=${EPOCHREALTIME/./}
busy=0 culprit=0 units=0

@{fn}() {
    local name=$1 said
    if ((@{notify})); then
        read -r said <&6
    else
        until [[ -e @{outbox}/$name ]]; do
            sleep @{tick}
        done
    fi
    read -r text <"@{outbox}/$name"
}

# Housekeeping in the background.
if ((@{notify})) && [[ @{tick} != 0 ]]; then
    (while sleep @{tick}; do :; done) &
    keeper=$!
fi
end=$(awk 'BEGIN { printf "%d", @{seconds} * 1000000 }')
gap=$(awk 'BEGIN { printf "%.4f", @{gap} / 1000 }')
while now=${EPOCHREALTIME/./}; ((now - began < end)); do
    name=doc-$units
    echo "$name" >&5
    @{fn} "$name"
    then=${EPOCHREALTIME/./}
    ((busy += then - now, units++))
    ((culprit += then - now))
    read -r -t "$gap" <&7
done
[[ $keeper ]] && kill "$keeper"
awk -v u=$units -v b=$busy -v c=$culprit -v w=@{convert} 'BEGIN {
    c = c / 1e6 - u * w / 1e3; if (c < 0 || @{notify}) c = 0
    printf "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}\n", u, b / 1e6, c }' >@{report}
