WEIGHT=6
WAITS=(lock)
knows gil-contention && FIRES=(gil-contention) && GONE=(gil-contention)

slow() { run_traced slow python3 "$here/score.py" threads; }
fixed() { run_traced fixed python3 "$here/score.py" processes; }
