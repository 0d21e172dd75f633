WEIGHT=4
FIRES=(config-reread)
FIRST="config-reread|open-close-churn"
NAMES=("config-reread: app.ini")
GONE=(config-reread)

build() { printf '[feed]\nsize = 20\n' >app.ini; }
slow() { run_traced slow python3 "$here/feed.py" app.ini; }
fixed() { run_traced fixed python3 "$here/feed.py" app.ini keep; }
