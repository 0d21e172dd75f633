WEIGHT=4
NEEDS="cc java javac"
ONLY_LIVE=1
DISK=1
SAYS=("in the end for store (" "in fsync" "save_rows (store.c:")
CALM=(fixed)

ready() { sync_takes_time || skip "a sync takes no time here: the store would not be slow"; }
build() { cc -g -O1 -o store "$here/store.c" && javac -d . "$here/Proxy.java"; }

# The client alone is named to the recorder; $2 is how often the store syncs.
recorded_client() {
    local recording=$1 how=$2 port store_port
    store_port=$(free_port) port=$(free_port)
    begin_chain
    link_of_chain ./store "$store_port" "journal-$recording" "$how"
    link_of_chain java -Xshare:auto -XX:TieredStopAtLevel=1 -cp . Proxy "$port" "$store_port"
    until_true 100 listening "$port" || return 1
    link_of_chain python3 "$here/client.py" "$port"
    record_chain "$recording" "$pid"
}

slow() { recorded_client slow each; }
fixed() { recorded_client fixed seldom; }
