# For cases of pure computing: each version is a command that computes for a time of CPU and says at its end how much it has done
# (`4711 lines`); it is profiled from outside. The functions of HOT (a regular expression) must have much of the time before the fix
# and next to none after it, and diff must say that a unit of work costs less.
# Sourced by a case's case.sh, which says HOT and WORK (what is counted), and has `build`, `slow_command` and `fixed_command`;
# PROFILE_WITH= are more options.
ONLY_LIVE=1
SHARES=("slow >= 30: $HOT" "fixed <= 10: $HOT" "diff: better")

# profiled NAME CMD…: into recorded/NAME.pprof, with its table and what the program printed.
profiled() {
    local out=recorded/$1
    shift
    # shellcheck disable=SC2086  # a list of options
    "$WHYSLOW" profile --hz 499 ${PROFILE_WITH:-} -o "$out.pprof" -- "$@" >"$out.out" 2>>"$work/whyslow.log" </dev/null &&
        "$WHYSLOW" profile "$out.pprof" top --nodecount 400 >"$out.top" 2>>"$work/whyslow.log"
}

# done_by NAME: the work that it has done.
done_by() {
    grep -o "[0-9]* $WORK" "recorded/$1.out" | cut -d ' ' -f 1
}

# shellcheck disable=SC2046  # commands with their arguments
slow() { profiled slow $(slow_command); }
# shellcheck disable=SC2046
fixed() { profiled fixed $(fixed_command); }
compared() {
    "$WHYSLOW" diff --json --per "$WORK=$(done_by slow),$(done_by fixed)" recorded/slow.pprof recorded/fixed.pprof >recorded/diff.json 2>diff.err ||
        failed "no diff" diff.err
}
