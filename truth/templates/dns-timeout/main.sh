#!/bin/bash
# Ships a line to each of the log hosts; with a resolv.conf of its own.
if [ -z "$OWN_NAMES" ]; then
    OWN_NAMES=1 exec unshare -m bash "$0"
fi
mount --bind @{work}/resolv.conf /etc/resolv.conf
mkfifo @{work}/ticks
exec 9<>@{work}/ticks

@{fn}() {
    { exec 3>"/dev/udp/$1/5514"; } 2>/dev/null || return
    printf '<14>%s\n' "$2" >&3 2>/dev/null
    exec 3>&-
}

units=0 busy=0
began=${EPOCHREALTIME/./}
end=$((began + $(printf '%.0f' "@{seconds}e6")))
while start=${EPOCHREALTIME/./}; [ "$start" -lt "$end" ]; do
    @{fn} "log$units.@{zone}" "line $units"
    done_at=${EPOCHREALTIME/./}
    units=$((units + 1)) busy=$((busy + done_at - start))
    rest=$((began + units * 1000000 / @{rate} - done_at))
    if [ $rest -gt 1000 ]; then
        printf -v pause '%d.%06d' $((rest / 1000000)) $((rest % 1000000))
        read -r -t "$pause" -u 9 _
    fi
done
printf '{"units": %d, "seconds": %d.%06d, "culprit": %d.%06d}' $units $((busy / 1000000)) $((busy % 1000000)) $((busy / 1000000)) $((busy % 1000000)) > "@{report}"
