#!/bin/bash
# Adds up the stock of the shelves: one shell for each group of shelves.
now() { now=${EPOCHREALTIME/./}; }

@{fn}() {
    local sum=0 i
    for ((i = 0; i < @{work_ms} * 170; i++)); do
        sum=$(((sum * 31 + $1 + i) % 1000003))
    done
    stock[$1 % 50]=$sum
}

@{fn2}() {
    local number=$1 units=0 busy=0 culprit=0 waited later rest
    declare -a stock
    while now && ((now < end)); do
        read -r _ waited _ </proc/$BASHPID/schedstat
        start=$now
        @{fn} $units
        now; busy=$((busy + now - start))
        read -r _ later _ </proc/$BASHPID/schedstat
        culprit=$((culprit + (later - waited) / 1000))
        units=$((units + 1))
        now
        rest=$((began + (units * @{workers} + number) * @{work_ms} * 1000000 / load - now))
        if ((rest > 0)); then
            printf -v rest '%d.%06d' $((rest / 1000000)) $((rest % 1000000))
            read -r -t "$rest" -u "$ticks"
        fi
    done
    echo $units $busy $culprit >"@{work}/shelves-$number.sum"
}

if ((@{pin})); then
    taskset -cp @{cpu} $$ >/dev/null
fi
mkfifo "@{work}/ticks"
exec {ticks}<>"@{work}/ticks"
load=$(printf '%.0f' @{load}e3)
now
began=$now
end=$((began + $(printf '%.0f' @{seconds}e6)))
for ((number = 0; number < @{workers}; number++)); do
    @{fn2} $number &
done
wait
units=0 busy=0 culprit=0
for ((number = 0; number < @{workers}; number++)); do
    read -r one two three <"@{work}/shelves-$number.sum"
    units=$((units + one)) busy=$((busy + two)) culprit=$((culprit + three))
done
printf '{"units": %d, "seconds": %d.%06d, "culprit": %d.%06d}' $units $((busy / 1000000)) $((busy % 1000000)) \
    $((culprit / 1000000)) $((culprit % 1000000)) >"@{report}"
