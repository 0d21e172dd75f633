WEIGHT=5
NEEDS="perl"
ONLY_LIVE=1
SAYS=("server.py" "tally")
CALM=(fixed)

# The server alone is named to the recorder; $2 is what it does with prices.
recorded_server() {
    local recording=$1 how=$2 port server
    port=$(free_port)
    begin_chain
    link_of_chain python3 "$here/server.py" "$port" "$how"
    server=$pid
    until_true 100 listening "$port" || return 1
    link_of_chain perl "$here/client.pl" "$port"
    # It has a connection, and has asked nothing.
    link_of_chain python3 -c "import socket, time; held = socket.create_connection(('127.0.0.1', $port)); held.recv(1)"
    record_chain "$recording" "$server"
}

slow() { recorded_server slow again; }
fixed() { recorded_server fixed kept; }

also() {
    python3 - slow.json fixed.json <<'CHECK'
import json, sys
slow, fixed = (json.load(open(f"recorded/{name}")) for name in sys.argv[1:])
followed = lambda diagnosis: [(one["comm"], one["hop"]) for one in diagnosis["target"].get("followed", [])]
callers = (slow.get("account") or {}).get("demand", {}).get("callers", [])
if followed(slow) != [("client.pl", 0)]:
    print(f"taken in: {followed(slow)} instead of client.pl alone, as a caller")
if [caller["name"] for caller in callers] != ["client.pl"]:
    print(f"callers: {callers}")
elif not 0.5 <= callers[0]["waited_ns"] / callers[0]["seen_ns"] <= 1:
    print(f"the client waited {callers[0]['waited_ns']} of {callers[0]['seen_ns']} ns")
if any(hop != 0 for _, hop in followed(fixed)):
    print(f"taken in of the fixed one: {followed(fixed)}")
CHECK
}
