WEIGHT=5
NEEDS="node ruby"
ONLY_LIVE=1
SAYS=("in the end for quote.py (" "computes" "risk_of (quote.py:")
CALM=(fixed)

# The client alone is named to the recorder; $2 is how the service comes to its risk.
recorded_client() {
    local recording=$1 how=$2 port service_port
    service_port=$(free_port) port=$(free_port)
    begin_chain
    link_of_chain python3 "$here/quote.py" "$service_port" "$how"
    until_true 100 listening "$service_port" || return 1
    link_of_chain node "$here/proxy.js" "$port" "$service_port"
    until_true 100 listening "$port" || return 1
    link_of_chain ruby "$here/client.rb" "$port"
    record_chain "$recording" "$pid"
}

slow() { recorded_client slow anew; }
fixed() { recorded_client fixed once; }
