WEIGHT=2
BESIDE=1
FIRES=(dns-timeout)
FIRST="dns-timeout"
# Two names wait equally long: which of them is named is chance.
NAMES=("dns-timeout: 127.0.0.77" "dns-timeout: .example.com")
GONE=(dns-timeout)

# The fix has an address of its own: both run at once.
port_is_free() { python3 -c 'import socket, sys; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).bind((sys.argv[1], 53))' "$1"; }
ready() { { port_is_free 127.0.0.77 && port_is_free 127.0.0.78; } 2>/dev/null || skip "port 53 may not be bound"; }
# with_server MODE NAME ADDRESS: what the resolver does while the name server there is silent, or answers.
# The server writes a file once its port is bound: a probe that binds the port could take it from the server.
with_server() {
    background python3 "$here/name_server.py" "$3" "$1" "$2.ready"
    until_true 100 test -e "$2.ready" || return 1
    run_traced "$2" python3 "$here/resolve.py" "$3"
}
slow() { with_server silent slow 127.0.0.77; }
fixed() { with_server answering fixed 127.0.0.78; }
