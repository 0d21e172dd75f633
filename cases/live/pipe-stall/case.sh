WAITS=(pipe)

build() { :; }
slow() { run_traced slow python3 "$here/pipeline.py"; }
fixed() { run_traced fixed python3 "$here/pipeline.py" running; }
