NEEDS="cc"
FIRES=(fsync-per-write)
FIRST="fsync-per-write"
NAMES=("fsync-per-write: journal.log")
GONE=(fsync-per-write)

# A device with a protected cache, or tmpfs, syncs at once: there is nothing to show on it.
ready() {
    python3 - <<'PROBE' || skip "a sync takes next to no time here"
import os, sys, tempfile, time
with tempfile.TemporaryFile(dir=".") as probe:
    start = time.monotonic()
    for _ in range(5):
        probe.write(b"x"); probe.flush(); os.fdatasync(probe.fileno())
    sys.exit((time.monotonic() - start) / 5 < 0.0004)
PROBE
}

build() { cc -O1 -pthread -o slow "$here/journal.c" && cc -O1 -pthread -DFIXED -o fixed "$here/journal.c"; }

slow() { run_traced slow ./slow journal.log; }
fixed() { run_traced fixed ./fixed journal.log; }
