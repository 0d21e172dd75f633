ONLY_LIVE=1
FIRES=(volume-throttled)
NAMES=("volume-throttled: whyslow-live")
GONE=(volume-throttled)

ready() {
    { new_group blkio || new_group io; } || skip "no control group with the blkio or io controller can be made here"
    set_write_limit 4 || skip "no limit can be set on the disk of this folder"
    python3 -c 'import os; os.open("probe", os.O_RDWR | os.O_CREAT | os.O_DIRECT)' 2>/dev/null || skip "no direct I/O in this folder"
}
build() { :; }

# The writer for six seconds, with at most $2 MB a second.
recorded_writer() {
    set_write_limit "$2" || return 1
    run_in_group "$1" python3 "$here/writer.py" data 6
}
slow() { recorded_writer slow 4; }
fixed() { recorded_writer fixed max; }
