WEIGHT=4
FIRES=(directory-rescan)
FIRST="directory-rescan"
NAMES=("directory-rescan: spool")
GONE=(directory-rescan)

build() { mkdir spool && (cd spool && seq -f 'job-%g' 1 300 | xargs touch); }
slow() { run_traced slow python3 "$here/watch.py" spool; }
fixed() { run_traced fixed python3 "$here/watch.py" spool 0.25; }
