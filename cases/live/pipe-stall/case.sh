WEIGHT=6
WAITS=(pipe)

slow() { run_traced slow python3 "$here/pipeline.py"; }
fixed() { run_traced fixed python3 "$here/pipeline.py" running; }
