#!/bin/bash
# Starts the tasks of the night one by one, unless the backup is running.
export LC_ALL=C
period=$((@{period} * 1000000))
looked=0
running=
spent=0
units=0
busy=0

now() { REPLY=${EPOCHREALTIME/./}; }

@{fn}() {
    now; local began=$REPLY
    if ((began - looked >= period)); then
        if pgrep -f 'nightly-backup --[a]ll' > /dev/null; then running=yes; else running=; fi
        looked=$began
        now; spent=$((spent + REPLY - began))
    fi
    [[ -z $running ]]
}

@{fn2}() {
    local i sum=$1
    for ((i = 0; i < @{extra} * 30; i++)); do sum=$(((sum * 31 + i) % 65521)); done
}

# Waits by reading from a pipe that nobody writes to.
exec {never}<> <(:)

@{fn}
spent=0
now; first=$REPLY
end=$(printf '%.0f' "@{seconds}e6")
while now; start=$REPLY; ((start - first < end)); do
    if @{fn}; then
        @{fn2} "$units"
    fi
    units=$((units + 1))
    now; busy=$((busy + REPLY - start))
    rest=$((first + units * 1000000 / @{rate} - REPLY))
    if ((rest > 0)); then
        printf -v wait '%d.%06d' $((rest / 1000000)) $((rest % 1000000))
        read -r -t "$wait" -u "$never"
    fi
done
printf '{"units": %d, "seconds": %d.%06d, "culprit": %d.%06d}' "$units" $((busy / 1000000)) $((busy % 1000000)) $((spent / 1000000)) $((spent % 1000000)) > @{report}
