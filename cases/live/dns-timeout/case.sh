FIRES=(dns-timeout)
FIRST="dns-timeout"
# Two names wait equally long: which of them is named is chance.
NAMES=("dns-timeout: 127.0.0.77" "dns-timeout: .example.com")
GONE=(dns-timeout)

port_is_free() { python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).bind(("127.0.0.77", 53))'; }
ready() { port_is_free 2>/dev/null || skip "port 53 may not be bound"; }
build() { :; }
# with_server MODE NAME: what the resolver does while the name server is silent, or answers.
with_server() {
    background python3 "$here/name_server.py" 127.0.0.77 "$1"
    sleep 0.5
    local server=$pid
    run_traced "$2" python3 "$here/resolve.py" 127.0.0.77
    kill "$server"
    until_true 20 port_is_free
}
slow() { with_server silent slow; }
fixed() { with_server answering fixed; }
