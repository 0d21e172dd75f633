WEIGHT=4
ONLY_LIVE=1
FIRES=(waits-for-peer)
NAMES=("waits-for-peer: backup.py" "waits-for-peer: the lock of" "waits-for-peer: service.py")

# The client alone is named to the recorder; $2 is what the backup does under the lock.
recorded_client() {
    local recording=$1 how=$2 port backup service client
    port=$(free_port)
    seq 1000 >"ledger-$recording"
    background python3 "$here/backup.py" "ledger-$recording" "$how"
    backup=$pid
    background python3 "$here/service.py" "$port" "ledger-$recording"
    service=$pid
    until_true 100 listening "$port" || return 1
    background python3 "$here/client.py" "$port" 1000000
    client=$pid
    attach "$recording" "$client" || return 1
    sleep 6
    detach
    kill "$client" "$service" "$backup"
    wait "$client" "$service" "$backup" 2>/dev/null
    return 0
}

slow() { recorded_client slow locked; }
fixed() { recorded_client fixed short; }

# The fix takes the lock away from the end of the client's waits.
also() {
    ! grep -q '"does"' recorded/fixed.json || ! grep -q 'at the lock of' recorded/fixed.json || echo "the fixed one still ends at the lock"
}
