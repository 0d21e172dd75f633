#!/bin/bash
# Folds the day's entries, which awk does; where it ends it is started again, and gets the entry again.
trap '' PIPE
exec {quiet}<> <(:)
seconds=@{seconds} rate=@{rate}
clock() { local now=$EPOCHREALTIME; REPLY=${now/[.,]/}; }
rest() {
  local pause
  (($1 > 0)) || return 0
  printf -v pause '%d.%06d' $(($1 / 1000000)) $(($1 % 1000000))
  read -r -t "$pause" -u "$quiet"
}

FOLD='
  BEGIN {
    for (i = 0; i < @{table} * 30; i++) table[i] = i * 31 % 977
    page = "0123456789abcdef"
    while (length(page) < @{leak_kb} * 1000) page = page page
    page = substr(page, 1, @{leak_kb} * 1000)
    for (i = 0; i * @{leak_kb} < first_mb * 1000; i++) pages["first " i] = page i
  }
  {
    pages[NR] = $0 page
    delete pages[NR - @{kept}]
    sum = 0
    for (i = 0; i < @{rounds} * 20; i++) sum += table[($1 + i) % (@{table} * 30)]
    print sum
    fflush()
  }'

start_worker() {
  coproc FOLDER { echo "$BASHPID" > /sys/fs/cgroup/memory/@{slice}/cgroup.procs; exec awk -v first_mb="$1" "$FOLD"; } 2> /dev/null
  worker=$FOLDER_PID
  exec {answers}<&"${FOLDER[0]}" {entries}>&"${FOLDER[1]}"
}

lost=0
@{fn}() {
  local sum asked
  clock; asked=$REPLY
  echo "$1" >&"$entries"
  while ! read -r -u "$answers" sum; do
    wait "$worker"
    echo "worker $worker ended with $?, entry $1 again"
    exec {answers}<&- {entries}>&-
    rest $((@{backoff_ms} * 1000))
    start_worker 0
    echo "$1" >&"$entries"
    if read -r -u "$answers" sum; then clock; lost=$((lost + REPLY - asked)); break; fi
  done
}

start_worker @{first_mb}
@{fn} 0
units=0 busy=0 lost=0
clock; due=$REPLY end=$((REPLY + ${seconds%.*} * 1000000))
while clock; start=$REPLY; ((start < end)); do
  @{fn} $units
  clock
  units=$((units + 1)) busy=$((busy + REPLY - start)) due=$((due + 1000000 / ${rate%.*}))
  if ((due < REPLY)); then due=$REPLY; fi
  rest $((due - REPLY))
done
kill "$worker"
printf '{"units": %d, "seconds": %d.%06d, "culprit": %d.%06d}' $units $((busy / 1000000)) $((busy % 1000000)) $((lost / 1000000)) $((lost % 1000000)) > @{report}
