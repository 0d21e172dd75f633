# For cases of pure computing: each version is a command that runs for some two seconds; it is profiled from outside, and the
# functions of HOT (a regular expression) must have much of the time before the fix and none to speak of after it.
# Sourced by a case's case.sh, which says HOT and has `build`, `slow_command` and `fixed_command`; PROFILE_WITH= are more options.
ONLY_LIVE=1

# profiled NAME CMD…: into recorded/NAME.top.
profiled() {
    local out=recorded/$1.top
    shift
    # shellcheck disable=SC2086  # a list of options
    "$WHYSLOW" profile ${PROFILE_WITH:-} top --nodecount 400 -- "$@" >"$out" 2>>"$work/whyslow.log" </dev/null
}

check_recordings() {
    mkdir -p recorded
    profiled slow $(slow_command) && profiled fixed $(fixed_command) ||
        { cat "$work"/*.log; echo "live case: $name: cannot be profiled"; return 1; }
    python3 "$here/../profiled.py" "$name" "$HOT" recorded
}
