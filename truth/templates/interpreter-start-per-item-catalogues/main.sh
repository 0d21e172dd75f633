# Imports the articles of suppliers into the shelf of the shop.
tool=@{work}/@{tool}
shelf=@{work}/@{shelf}
units=0 busy=0 spent=0 inner=0
declare -A seen
exec 8> "$shelf"

now() {
    at=${EPOCHREALTIME/./}
}

# Keeps what the script has answered: its time, and the article.
keep() {
    local took=${1%%$'\t'*} article=${1#*$'\t'}
    took=${took/./}
    inner=$((inner + 10#$took))
    echo "$article" >&8
    units=$((units + 1))
    local number=${article#*: }
    seen[${number%%,*}]=$units
}

@{fn}() {
    local answers
    answers=$(printf '%s\n' "$@" | /usr/bin/python3 "$tool") || exit 1
    while read -r answer; do
        keep "$answer"
    done <<< "$answers"
}

if [ "@{start}" = once ]; then
    coproc convert { /usr/bin/python3 "$tool"; }
fi

exec 7< "@{work}/@{inbox}"
now; began=$at
length=$(printf '%.0f' "@{seconds}e6")
gather=$(printf '%.0f' "@{gather}e6")
lines=() since=$began
while now; ((at - began < length)); do
    read -r line <&7 || break
    now; from=$at
    # What came twice is the same article.
    number=${line%%;*}
    [ -n "${seen[$number]}" ] && continue
    inner=0
    case @{start} in
        article)
            @{fn} "$line" ;;
        once)
            echo "$line" >&"${convert[1]}"
            read -r answer <&"${convert[0]}"
            keep "$answer" ;;
        batch)
            lines+=("$line")
            if ((at - since > gather)); then
                @{fn} "${lines[@]}"
                lines=() since=$at
            fi ;;
    esac
    now
    busy=$((busy + at - from))
    spent=$((spent + at - from - inner))
done
awk -v u=$units -v b=$busy -v s=$spent 'BEGIN { printf "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", u, b / 1e6, s / 1e6 }' > "@{report}"
