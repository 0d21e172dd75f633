WEIGHT=2
FIRES=(fd-exhaustion)
FIRST="fd-exhaustion"
GONE=(fd-exhaustion)

# The limit is the program's, not the recorder's.
limited() { run_traced "$1" prlimit --nofile=64 python3 "$here/collect.py" "${@:2}"; }
slow() { limited slow leaky; }
fixed() { limited fixed; }
