#!/bin/bash
# Signs the letters of a folder; the signer comes with one of the packages.
mkfifo "@{work}/ticks"
exec {ticks}<>"@{work}/ticks"

now() { now=${EPOCHREALTIME/./}; }

wait_until() {
    local rest
    now
    rest=$(($1 - now))
    if ((rest > 0)); then
        printf -v rest '%d.%06d' $((rest / 1000000)) $((rest % 1000000))
        read -r -t "$rest" -u "$ticks"
    fi
}

report() {
    printf '{"units": %d, "seconds": %d.%06d}' "$1" $(($2 / 1000000)) $(($2 % 1000000)) >"@{report}"
}
mapfile -t folders <"@{work}/search.conf"
search=$(IFS=:; echo "${folders[*]}")

@{fn}() {
    /usr/bin/env PATH="$search" @{program} "$1"
}

units=0 busy=0
now
began=$now
end=$((began + $(printf '%.0f' @{seconds}e6)))
rate=$(printf '%.0f' @{rate}e3)
while now && ((now < end)); do
    start=$now
    @{fn} "letter-$units" || exit 1
    units=$((units + 1))
    now; busy=$((busy + now - start))
    wait_until $((began + units * 1000000000 / rate))
done
report $units $busy
