NEEDS="cc"
DISK=1
FIRES=(fsync-per-write)
FIRST="fsync-per-write"
NAMES=("fsync-per-write: journal.log")
GONE=(fsync-per-write)

# A device with a protected cache, or tmpfs, syncs at once: there is nothing to show on it.
ready() { sync_takes_time || skip "a sync takes next to no time here"; }

build() { cc -O1 -pthread -o slow "$here/journal.c" && cc -O1 -pthread -DFIXED -o fixed "$here/journal.c"; }

slow() { run_traced slow ./slow journal.log; }
fixed() { run_traced fixed ./fixed journal.log; }
