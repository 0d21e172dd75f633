WEIGHT=4
FIRES=(file-reread)
FIRST="file-reread|open-close-churn"
NAMES=("file-reread: table.tsv")
GONE=(file-reread)

build() { head -c 2000000 /dev/urandom | base64 >table.tsv; }
slow() { run_traced slow python3 "$here/lookup.py" table.tsv; }
fixed() { run_traced fixed python3 "$here/lookup.py" table.tsv keep; }
