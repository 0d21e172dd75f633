#!/bin/bash
# Hands the lines of the audit to the collector; a line that it does not take stays in a list.
LC_ALL=C
ports=(@{first} @{hub})
units=0 busy=0 spent=0 kept=()
connected=

now() { local t=${EPOCHREALTIME/./}; REPLY=$t; }

@{fn}() {
    local n port
    [[ $connected ]] && return 0
    for ((n = 0; n < @{tries}; n++)); do
        for port in "${ports[@]}"; do
            if { exec 3<>"/dev/tcp/127.0.0.1/$port"; } 2>/dev/null; then
                connected=1
                return 0
            fi
        done
        ((@{pause} > 0)) && read -rt 0.00@{pause} <>"$idle"
    done
    return 1
}

idle=@{work}/.idle
mkfifo "$idle"
exec 8<>"$idle"
now; began=$REPLY
until=$(awk 'BEGIN { printf "%d", @{seconds} * 1e6 }')
gap=$(awk 'BEGIN { printf "%d", 1e6 / @{pace} }')
while now; ((REPLY - began < until)); do
    start=$REPLY
    record="audit $units user=$((units % 17)) action=login"
    if @{fn}; then
        now; spent=$((spent + REPLY - start))
        echo "$record" >&3
    else
        now; spent=$((spent + REPLY - start))
        kept[units % 50]=$record
    fi
    units=$((units + 1))
    ((units % @{renew} == 0)) && connected=
    now; busy=$((busy + REPLY - start))
    rest=$((began + units * gap - REPLY))
    ((rest > 0)) && { printf -v wait '%d.%06d' $((rest / 1000000)) $((rest % 1000000)); read -rt "$wait" -u 8; }
done
printf '{"units": %d, "seconds": %d.%06d, "culprit": %d.%06d}' $units $((busy / 1000000)) $((busy % 1000000)) $((spent / 1000000)) $((spent % 1000000)) >@{report}
