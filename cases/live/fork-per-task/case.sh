WEIGHT=4
FIRES=(fork-per-task)
FIRST="fork-per-task"
NAMES=("fork-per-task: sed")
GONE=(fork-per-task)

build() { seq -f 'name-%g.txt' 1 80 >names.txt; }
slow() { run_traced slow bash "$here/rename.sh" names.txt; }
fixed() { run_traced fixed bash "$here/rename-fixed.sh" names.txt; }
