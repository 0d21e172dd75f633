#!/bin/bash
# Puts the index of each report down where the readers take it.
clock() { local now=$EPOCHREALTIME; REPLY=${now/[.,]/}; }

put_down_none() { :; }
put_down_all() { sync; }
put_down_end() { if [ "$1" = last ]; then sync; fi; }

@{fn}() {
  local number=$1 i text=
  for ((i = 0; i < @{entries} / 20; i++)); do text+="entry $i of $number"$'\n'; done
  printf '%s' "$text" 1<> "$folder/@{index}"
}

folder=@{work}
spent=0 busy=0 units=0
# A pipe that nothing comes through, to wait without a program.
exec {quiet}<> <(:)
clock; began=$REPLY
seconds=@{seconds}
end=$((began + ${seconds%.*} * 1000000))
due=$began
while clock; now=$REPLY; ((now < end)); do
  @{fn} $units
  clock; written=$REPLY
  put_down_@{sync} $units
  clock; after=$REPLY
  spent=$((spent + after - written)) busy=$((busy + after - now)) units=$((units + 1))
  due=$((due + 1000000 / @{per_s}))
  rest=$((due - after))
  if ((rest > 1000)); then
    printf -v pause '%d.%06d' $((rest / 1000000)) $((rest % 1000000))
    read -r -t "$pause" -u "$quiet"
  else
    due=$after
  fi
done
put_down_@{sync} last
printf '{"units": %d, "seconds": %d.%06d, "culprit": %d.%06d}' $units $((busy / 1000000)) $((busy % 1000000)) $((spent / 1000000)) $((spent % 1000000)) > @{report}
