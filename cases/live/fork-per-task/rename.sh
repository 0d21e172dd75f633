# Prints the new name of each file: a sed for each.
while read -r name; do
    echo "$name" | sed 's/\.txt$/.md/'
done <"$1"
