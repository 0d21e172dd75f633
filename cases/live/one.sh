#!/bin/bash
# Runs one live case, asked by ./run: one.sh NAME. Builds its programs (or takes them as they were built), records the slow one and its
# fix, diagnoses each recording once, and has check.py judge. Its last line is the case's own.
# WHYSLOW= is the binary, LIVE=1 means that it records (else strace does), BUILT= keeps what was built, KEEP= keeps the recordings,
# ALONE=1 records one program at a time, also where a case lets two run at once.
set -u
cd "$(dirname "$0")" || exit 1
name=$1
here=$PWD/$name
NEEDS="" FIRES=() FIRST="" NAMES=() WAITS=() ASKS=() SAYS=() GONE=() CALM=() SHARES=() OWN="" QUIET="" ONLY_LIVE="" DISK="" BESIDE=""
work=$(mktemp -d) || exit 1
trap 'stop_all; rm -rf "$work"' EXIT
# shellcheck source=record.sh
. ./record.sh
# shellcheck source=/dev/null
. "$here/case.sh"

# failed WHAT [FILE…]: says what went wrong, with the ends of these files, and ends the case.
failed() {
    local log
    echo "wrong: $1"
    shift
    for log in "$@"; do
        [ ! -s "$log" ] || { echo "--- ${log##*/}"; tail -n 60 "$log"; }
    done
    exit 1
}

# built: copies what `build` makes into the case's folder. It is made once for each state of the case's files and tools.
built() {
    local sources
    sources=$( (
        cd "$here" && find . -type f -print0 | sort -z | xargs -0 sha256sum
        declare -f build
        for tool in cc g++ go javac java; do
            stat -Lc '%n %s %Y' "$(command -v "$tool")" 2>/dev/null
        done
        uname -m
    ) | sha256sum)
    local kept=$BUILT/$name/${sources:0:16} lock
    mkdir -p "$BUILT/$name"
    exec {lock}>"$BUILT/$name/lock"
    flock "$lock"
    if [ ! -d "$kept" ]; then
        # What other states of the sources have left.
        find "$BUILT/$name" -mindepth 1 -maxdepth 1 -type d -exec rm -rf {} +
        mkdir "$kept.new"
        (cd "$kept.new" && build) >"$work/build.log" 2>&1 || failed "does not build" "$work/build.log"
        mv "$kept.new" "$kept"
    fi
    cp -a "$kept/." "$work/"
    flock -u "$lock"
    exec {lock}>&-
}

# both: the slow program and its fix, at once where the case says that they only wait.
both() {
    local other
    if [ "$(type -t fixed)" != function ]; then
        slow || failed "the slow program failed" "$work"/*.log
    elif [ -n "$BESIDE" ] && [ -z "${ALONE:-}" ]; then
        (
            trap stop_all EXIT
            started=()
            fixed
        ) &
        other=$!
        slow || failed "the slow program failed" "$work"/*.log
        wait "$other" || failed "the fixed program failed" "$work"/*.log
    else
        slow || failed "the slow program failed" "$work"/*.log
        fixed || failed "the fixed program failed" "$work"/*.log
    fi
}

# diagnosed: each recording, and what `diff` makes of the two.
diagnosed() {
    local recording files
    for recording in $(recordings); do
        mapfile -t files < <(captures "$recording")
        "$WHYSLOW" diagnose --json "${files[@]}" >"recorded/$recording.json" 2>"$recording.err" ||
            failed "$recording cannot be diagnosed" "$recording.err"
    done
    if [ ${#ASKS[@]} -gt 0 ]; then
        mapfile -t files < <(captures slow)
        "$WHYSLOW" requests --json "${files[@]}" >recorded/slow.requests 2>requests.err || failed "no requests" requests.err
    fi
    [ "$(type -t fixed)" != function ] || compared
}

# judged: by the truth that the case has told in its variables.
judged() {
    local word fact truth=()
    for word in FIRES FIRST NAMES SAYS WAITS ASKS GONE CALM SHARES OWN QUIET; do
        local -n facts=$word
        for fact in "${facts[@]}"; do
            [ -z "$fact" ] || truth+=("--${word,,}" "$fact")
        done
    done
    python3 "$here/../check.py" "${truth[@]}" recorded
}

for tool in $([ -n "$LIVE" ] || echo strace lsof) python3 flock $NEEDS; do
    command -v "$tool" >/dev/null 2>&1 || skip "no $tool here"
done
cd "$work" || exit 1
ready
built
prepare >prepare.log 2>&1 || failed "what it needs cannot be made" prepare.log
# What others have written goes to the disk now, not under the eyes of a recorder that judges the disk.
[ -z "$DISK" ] || timeout 20 sync
mkdir -p recorded
both
diagnosed
status=0
judged || status=1
also || status=1
if [ "$status" != 0 ]; then
    # Only now, because it takes as long as the diagnosis.
    for recording in $(recordings); do
        mapfile -t files < <(captures "$recording")
        echo "--- $recording"
        "$WHYSLOW" diagnose "${files[@]}" 2>&1 | head -n 120
    done
fi
if [ -n "${KEEP:-}" ]; then
    rm -rf "${KEEP:?}/$name"
    mkdir -p "$KEEP/$name" && cp -r recorded/. "$KEEP/$name/"
fi
exit "$status"
