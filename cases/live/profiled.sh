# For cases of pure computing: each version is a command that runs for some two seconds and says at its end how much it has done
# (`4711 lines`); it is profiled from outside. The functions of HOT (a regular expression) must have much of the time before the fix
# and none to speak of after it, RULES be found before it and not after, and diff say that a unit of work costs less.
# Sourced by a case's case.sh, which says HOT, WORK (what is counted) and RULES, and has `build`, `slow_command` and
# `fixed_command`; PROFILE_WITH= are more options.
ONLY_LIVE=1

# profiled NAME CMD…: into recorded/NAME.pprof, with its table, its diagnosis, and what the program printed.
profiled() {
    local out=recorded/$1
    shift
    # shellcheck disable=SC2086  # a list of options
    "$WHYSLOW" profile --hz 499 ${PROFILE_WITH:-} -o "$out.pprof" -- "$@" >"$out.out" 2>>"$work/whyslow.log" </dev/null &&
        "$WHYSLOW" profile "$out.pprof" top --nodecount 400 >"$out.top" 2>>"$work/whyslow.log" &&
        "$WHYSLOW" diagnose --json "$out.pprof" >"$out.json" 2>>"$work/whyslow.log"
}

# done_by NAME: the work that it has done.
done_by() {
    grep -o "[0-9]* $WORK" "recorded/$1.out" | cut -d ' ' -f 1
}

check_recordings() {
    mkdir -p recorded
    # shellcheck disable=SC2046  # commands with their arguments
    profiled slow $(slow_command) && profiled fixed $(fixed_command) &&
        "$WHYSLOW" diff --json --per "$WORK=$(done_by slow),$(done_by fixed)" recorded/slow.pprof recorded/fixed.pprof \
            >recorded/diff.json 2>>"$work/whyslow.log" ||
        { cat "$work"/*.log recorded/*.out; echo "live case: $name: cannot be profiled"; return 1; }
    python3 "$here/../profiled.py" "$name" "$HOT" recorded "${RULES[@]}"
}
