WEIGHT=4
FIRES=(log-flood)
FIRST="log-flood|small-writes"
NAMES=("log-flood: service.log" "log-flood: DEBUG")
GONE=(log-flood)

slow() { run_traced slow python3 "$here/service.py" DEBUG; }
fixed() { run_traced fixed python3 "$here/service.py" INFO; }
