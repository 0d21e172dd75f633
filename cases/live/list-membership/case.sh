WEIGHT=4
HOT="list_contains|long_richcompare|RichCompare"
WORK="batches"
# shellcheck source-path=SCRIPTDIR source=../profiled.sh
. "$here/../profiled.sh"

ready() {
    python3 -c 'import sys, glob; data = b"".join(open(f, "rb").read() for f in [sys.executable] + glob.glob(sys.prefix + "/lib/libpython3*.so.1.0")); sys.exit(b"list_contains" not in data)' ||
        skip "this Python has no symbols"
}
slow_command() { echo python3 "$here/keys.py" slow; }
fixed_command() { echo python3 "$here/keys.py" fixed; }
