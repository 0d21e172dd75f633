ONLY_LIVE=1
DISK=1
FIRES=(page-cache-thrash)
NAMES=("page-cache-thrash: whyslow-live")
QUIET="a reader that has no CPU reads too little to wait for pages for 5 % of its time"
GONE=(page-cache-thrash)

ready() { new_group memory || skip "no control group with the memory controller can be made here"; }
prepare() { dd if=/dev/urandom of=data bs=1M count=96 status=none && sync data; }

# The reader for three seconds in a group of $2 MB.
recorded_reader() {
    set_memory "$2" || return 1
    drop_file data
    run_in_group "$1" python3 "$here/reader.py" data 3
}
slow() { recorded_reader slow 64; }
fixed() { recorded_reader fixed 256; }
