# What the cases use: recording with strace and lsof into recorded/NAME.st and NAME.lsof, or with LIVE=1 by whyslow itself
# into recorded/NAME.whyslow.
# Sourced by ./one.sh, which goes on in the case's own temporary folder $work; the case's sources are in $here.
STRACE="strace -f -ttT -s 256"
started=()
# The interpreter itself: `python3` may be a shell script of pyenv, whose work is not the case's.
PATH="$(python3 -c 'import os, sys; print(os.path.dirname(sys.executable))' 2>/dev/null):$PATH"

stop_all() {
    local pid
    for pid in "${started[@]}"; do
        kill -TERM "$pid" 2>/dev/null
    done
    wait 2>/dev/null
    gone 2>/dev/null
    [ -z "${group_dir:-}" ] || rmdir "$group_dir" 2>/dev/null
}

# ready: a case's own look at the machine, which may skip.
ready() { :; }

# build: what is made of the case's files alone; kept from run to run.
build() { :; }

# prepare: what each run needs anew, servers for instance.
prepare() { :; }

# compared: what `diff` makes of the slow recording and the fixed one.
compared() {
    "$WHYSLOW" diff --json "$(calls_of slow)" "$(calls_of fixed)" >recorded/diff.json 2>diff.err || failed "no diff" diff.err
}

# also: what only this case must hold; prints each thing that is wrong.
also() { :; }

# gone: what a case's own look at the machine has made is taken away, when all it started is gone.
gone() { :; }

# skip REASON: this machine cannot show the case.
skip() {
    echo "skipped: $1"
    exit 0
}

# knows RULE: this whyslow has the rule.
knows() {
    "$WHYSLOW" rule "$1" >/dev/null 2>&1
}

# free_port: a TCP port on loopback that nobody listens on, below those that the kernel gives to clients. No other case is given it
# while anything of this one runs: a case has a block of ports, by a lock that all it starts inherit.
free_port() {
    (
        # The slow program and its fix may ask at once.
        flock 9
        while port=$(($(cat "$work/.port") + 1)); do
            echo "$port" >"$work/.port"
            [ $((port % PORTS)) != 0 ] || { echo "no port is free" >&2; exit 1; }
            can_bind "$port" && break
        done
        echo "$port"
    ) 9>>"$work/.port.lock"
}
# can_bind PORT: a server gets it. Nobody may listen there and a connection of an earlier run still hold it (TIME_WAIT).
can_bind() {
    python3 -c 'import socket, sys; socket.socket().bind(("127.0.0.1", int(sys.argv[1])))' "$1" 2>/dev/null
}
PORTS=64
take_ports() {
    local block lock
    mkdir -p "${TMPDIR:-/tmp}/whyslow-live-ports"
    for block in $(seq 320 500); do
        exec {lock}>"${TMPDIR:-/tmp}/whyslow-live-ports/$block" || continue
        if flock -n "$lock"; then
            echo $((block * PORTS)) >"$work/.port"
            return
        fi
        exec {lock}>&-
    done
    skip "no block of ports is free"
}
take_ports

# sync_takes_time: a small write and its sync take 0.4 ms or more in the case's folder. That is twice what the rules take
# for a protected cache, so that a device near their limit does not make a case of it one day and none the next.
sync_takes_time() {
    python3 - <<'PROBE'
import os, sys, tempfile, time
with tempfile.TemporaryFile(dir=".") as probe:
    start = time.monotonic()
    for _ in range(20):
        probe.write(b"x")
        probe.flush()
        os.fdatasync(probe.fileno())
    sys.exit((time.monotonic() - start) / 20 < 0.0004)
PROBE
}

# background CMD…: starts it; its number is in $pid. It is stopped with the case.
background() {
    "$@" >>"$work/background.log" 2>&1 &
    pid=$!
    started+=("$pid")
}

# begin_chain, link_of_chain CMD…, record_chain NAME PID: processes of which one waits for the next, the last one started first. PID alone
# is named to the recorder, for eight seconds; then all of them end.
chain=()
begin_chain() { chain=(); }
link_of_chain() {
    background "$@"
    chain+=("$pid")
}
record_chain() {
    # The first requests are past: programs are loaded, files are cached.
    sleep 0.5
    attach "$1" "$2" || return 1
    sleep 8
    detach
    kill "${chain[@]}" 2>/dev/null
    wait "${chain[@]}" 2>/dev/null
    return 0
}

# until_true TRIES CMD…: every 0.1 s, at most TRIES times.
until_true() {
    local left=$1
    shift
    until "$@" >/dev/null 2>&1; do
        left=$((left - 1))
        [ "$left" -gt 0 ] || { echo "never came true: $*" >&2; return 1; }
        sleep 0.1
    done
}

# listening PORT: somebody does.
listening() {
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# new_group CONTROLLER: makes a control group of its own in $group_dir, gone with the case; fails where none can be made.
new_group() {
    local root
    for root in "/sys/fs/cgroup/$1" /sys/fs/cgroup; do
        group_dir=$root/whyslow-live-$$
        { [ -w "$root" ] && mkdir "$group_dir" 2>/dev/null; } || continue
        if [ "$root" != /sys/fs/cgroup ] || grep -qw "$1" "$group_dir/cgroup.controllers" 2>/dev/null; then
            return 0
        fi
        rmdir "$group_dir"
    done
    group_dir=""
    return 1
}

# set_quota MS: of CPU time in each 100 ms, for the group.
set_quota() {
    if [ -e "$group_dir/cpu.max" ]; then
        echo "$(($1 * 1000)) 100000" >"$group_dir/cpu.max"
    else
        echo 100000 >"$group_dir/cpu.cfs_period_us" && echo "$(($1 * 1000))" >"$group_dir/cpu.cfs_quota_us"
    fi
}

# set_memory MB: the group's limit.
set_memory() {
    if [ -e "$group_dir/memory.max" ]; then
        echo "${1}M" >"$group_dir/memory.max"
    else
        echo "${1}M" >"$group_dir/memory.limit_in_bytes"
    fi
}

# drop_file FILE: its pages leave the cache, so that they are charged anew.
drop_file() {
    python3 -c 'import os, sys; fd = os.open(sys.argv[1], os.O_RDONLY); os.fsync(fd); os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)' "$1"
}

# run_in_group NAME CMD…: as run_traced, the program in the group.
run_in_group() {
    local recording=$1
    shift
    # shellcheck disable=SC2016  # expanded by the inner shell
    run_traced "$recording" sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group_dir" "$@"
}

# run_traced NAME CMD…: the program from its start to its end, with what it has open after half a second. RECORD_WITH= are
# options for the live recorder.
run_traced() {
    local out=recorded/$1 tracer traced
    shift
    mkdir -p recorded
    if [ -n "$LIVE" ]; then
        # shellcheck disable=SC2086  # a list of options
        "$WHYSLOW" record ${RECORD_WITH:-} -o "$out.whyslow" -- "$@" >>"$work/program.log" 2>>"$work/whyslow.log" </dev/null
        return
    fi
    $STRACE -o "$out.st" "$@" >>"$work/program.log" 2>&1 </dev/null &
    tracer=$!
    # A short program is over by then, and leaves no lsof.
    for _ in 1 2 3 4 5; do
        sleep 0.1
        kill -0 "$tracer" 2>/dev/null || break
    done
    traced=$(sed -n '1s/ .*//p' "$out.st")
    [ -z "$traced" ] || lsof -nP -p "$traced" >"$out.lsof" 2>/dev/null || rm -f "$out.lsof"
    wait "$tracer"
}

# attach NAME PID[,PID…]: what they have open, then their calls, until `detach`. TRACE_WITH= is another strace command.
attach() {
    local out=recorded/$1 targets=$2
    mkdir -p recorded
    if [ -n "$LIVE" ]; then
        # shellcheck disable=SC2046  # a list of options
        "$WHYSLOW" record --duration 60 -o "$out.whyslow" $(each_process "$targets") </dev/null 2>>"$work/whyslow.log" &
        tracer=$!
        started+=("$tracer")
        until_true 100 attached_to "$out"
        return
    fi
    lsof -nP -p "$targets" >"$out.lsof" 2>/dev/null
    # strace does not say which thread belongs to which of several processes.
    [ "${targets#*,}" = "$targets" ] || lsof -nP -a -K -p "$targets" >"$out.threads.lsof" 2>/dev/null
    # shellcheck disable=SC2046
    ${TRACE_WITH:-$STRACE} -o "$out.st" $(each_process "$targets") 2>"$work/strace.err" &
    tracer=$!
    started+=("$tracer")
    until_true 50 grep -q attached "$work/strace.err"
}

# attach_host NAME: all there is on this machine, live only, until `detach`.
attach_host() {
    local out=recorded/$1
    targets=$$
    mkdir -p recorded
    "$WHYSLOW" record -a --duration 60 -o "$out.whyslow" </dev/null 2>>"$work/whyslow.log" &
    tracer=$!
    started+=("$tracer")
    until_true 100 attached_to "$out"
}

each_process() {
    printf -- '-p %s ' "${1//,/ -p }"
}

# attached_to OUT: whyslow records: the first rare records tell of the watched threads, once all programs are attached; without BPF it
# is the tracer of the last process.
attached_to() {
    [ -e "$1.whyslow/spool/rare" ] || grep -q "^TracerPid:[[:space:]]*$tracer$" "/proc/${targets##*,}/status"
}

detach() {
    kill -"$([ -n "$LIVE" ] && echo INT || echo TERM)" "$tracer" 2>/dev/null
    wait "$tracer" 2>/dev/null
}

# The captures of one recording that are there.
captures() {
    find recorded -maxdepth 1 \( -name "$1.whyslow" -o -name "$1.pprof" -o -size +0 \( -name "$1.st" -o -name "$1.lsof" -o -name "$1.threads.lsof" \) \)
}

# The main capture of one recording.
calls_of() {
    echo "recorded/$1.$([ -n "$LIVE" ] && echo whyslow || echo st)"
}

# The names of all recordings.
recordings() {
    (cd recorded && find . -maxdepth 1 \( -name '*.st' -o -name '*.whyslow' -o -name '*.pprof' \) -printf '%f\n' | sed 's/\.[a-z]*$//')
}
