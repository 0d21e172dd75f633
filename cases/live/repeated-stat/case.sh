WEIGHT=4
FIRES=(repeated-stat)
FIRST="repeated-stat"
NAMES=("repeated-stat: settings.local")
GONE=(repeated-stat)

build() { echo debug=0 >settings.local; }
slow() { run_traced slow python3 "$here/convert.py" settings.local; }
fixed() { run_traced fixed python3 "$here/convert.py" settings.local once; }
