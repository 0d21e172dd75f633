FIRES=(fd-exhaustion)
FIRST="fd-exhaustion"
GONE=(fd-exhaustion)

build() { :; }
slow() { (ulimit -n 64 && run_traced slow python3 "$here/collect.py" leaky); }
fixed() { (ulimit -n 64 && run_traced fixed python3 "$here/collect.py"); }
