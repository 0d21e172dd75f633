#!/bin/bash
# Sums up the amounts of orders by customer.
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
    printf '{"units": %d, "seconds": %d.%06d, "culprit": %d.%06d}' "$1" $(($2 / 1000000)) $(($2 % 1000000)) \
        $(($3 / 1000000)) $(($3 % 1000000)) >"@{report}"
}
declare -A totals

@{fn}() {
    local line=$1 fields
    if [[ @{way} == call ]] && ((units % @{every} == 0)); then
        if [[ @{cutter} == grep ]]; then
            customer=$(grep -o 'customer-[0-9]*' <<<"$line")
            amount=$(grep -o '[0-9]*;paid' <<<"$line")
            amount=${amount%;*}
        else
            customer=$(awk -F';' '{ print $2 }' <<<"$line")
            amount=$(awk -F';' '{ print $3 }' <<<"$line")
        fi
    else
        IFS=';' read -ra fields <<<"$line"
        customer=${fields[1]} amount=${fields[2]}
    fi
}

units=0 busy=0 culprit=0
now
began=$now
end=$((began + $(printf '%.0f' @{seconds}e6)))
while now && ((now < end)); do
    start=$now
    line="$units;customer-$((units % 97));$((units * 7919 % 1000));paid"
    now; asked=$now
    @{fn} "$line"
    now; culprit=$((culprit + now - asked))
    totals[$customer]=$((${totals[$customer]:-0} + amount))
    units=$((units + 1))
    now; busy=$((busy + now - start))
    wait_until $((began + units * 1000000 / @{rate}))
done
report $units $busy $culprit
