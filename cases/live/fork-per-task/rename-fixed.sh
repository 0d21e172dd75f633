# Prints the new name of each file: one sed for all.
sed 's/\.txt$/.md/' "$1"
