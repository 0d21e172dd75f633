WEIGHT=1
FIRES=(close-wait-leak)
FIRST="close-wait-leak"
GONE=(close-wait-leak)

# Attached after 120 clients have come and gone; $2 is the server's setting.
recorded_server() {
    local recording=$1 setting=$2 port
    port=$(free_port)
    # shellcheck disable=SC2086  # no setting is no argument
    background python3 "$here/server.py" "$port" $setting
    until_true 100 listening "$port" || return 1
    python3 "$here/clients.py" "$port" 120
    attach "$recording" "$pid" || return 1
    python3 "$here/clients.py" "$port" 5
    sleep 0.5
    detach
    kill "$pid"
}
slow() { recorded_server slow ""; }
fixed() { recorded_server fixed closing; }
