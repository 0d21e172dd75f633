NEEDS="cc"
DISK=1
FIRES=(sync-open)
FIRST="sync-open"
NAMES=("sync-open: ledger.bin")
GONE=(sync-open)

# A device with a protected cache, or tmpfs, syncs at once: there is nothing to show on it.
ready() { sync_takes_time || skip "a sync takes next to no time here"; }

build() { cc -O1 -pthread -o slow "$here/ledger.c" && cc -O1 -pthread -DFIXED -o fixed "$here/ledger.c"; }
slow() { run_traced slow ./slow; }
fixed() { run_traced fixed ./fixed; }
