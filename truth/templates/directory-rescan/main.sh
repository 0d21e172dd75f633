#!/bin/bash
# Sends each message to whom the maps name.
export LC_ALL=C
folder=@{work}/@{folder}
relist=$((@{relist} * 1000000))
listed=0
spent=0
units=0
busy=0

now() { REPLY=${EPOCHREALTIME/./}; }

@{fn}() {
    now; local began=$REPLY
    if ((began - listed >= relist)); then
        maps=("$folder"/@{stem}-*.map)
        listed=$began
        now; spent=$((spent + REPLY - began))
    fi
    chosen=${maps[$1 % ${#maps[@]}]}
}

@{fn2}() {
    local i sum=0
    for ((i = 0; i < @{extra}; i++)); do sum=$(((sum * 31 + i) % 65521)); done
}

# Waits by reading from a pipe that nobody writes to.
exec {never}<> <(:)

now; first=$REPLY
end=$(printf '%.0f' "@{seconds}e6")
while now; start=$REPLY; ((start - first < end)); do
    for ((look = 0; look < @{looks}; look++)); do
        @{fn} $((units + look))
        @{fn2} "$chosen"
    done
    units=$((units + 1))
    now; busy=$((busy + REPLY - start))
    rest=$((first + units * 1000000 / @{rate} - REPLY))
    if ((rest > 0)); then
        printf -v wait '%d.%06d' $((rest / 1000000)) $((rest % 1000000))
        read -r -t "$wait" -u "$never"
    fi
done
printf '{"units": %d, "seconds": %d.%06d, "culprit": %d.%06d}' "$units" $((busy / 1000000)) $((busy % 1000000)) $((spent / 1000000)) $((spent % 1000000)) > @{report}
