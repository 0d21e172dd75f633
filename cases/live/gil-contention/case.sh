WAITS=(lock)
knows gil-contention && FIRES=(gil-contention) && GONE=(gil-contention)

build() { :; }
slow() { run_traced slow python3 "$here/score.py" threads; }
fixed() { run_traced fixed python3 "$here/score.py" processes; }
