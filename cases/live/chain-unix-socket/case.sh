WEIGHT=3
NEEDS="java javac perl"
ONLY_LIVE=1
SAYS=("in the end for Ledger (" "Ledger.java:")
CALM=(fixed)

build() { javac -d . "$here/Ledger.java"; }

# The client alone is named to the recorder; $2 is how the ledger closes its books.
recorded_client() {
    local recording=$1 how=$2
    begin_chain
    link_of_chain java -Xshare:auto -XX:TieredStopAtLevel=1 -cp . Ledger "$recording-ledger.sock" "$how"
    until_true 100 test -S "$recording-ledger.sock" || return 1
    link_of_chain python3 "$here/gateway.py" "$recording.sock" "$recording-ledger.sock"
    until_true 100 test -S "$recording.sock" || return 1
    link_of_chain perl "$here/client.pl" "$recording.sock"
    record_chain "$recording" "$pid"
}

slow() { recorded_client slow held; }
fixed() { recorded_client fixed beside; }
