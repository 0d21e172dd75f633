"""The registry of rings: greets, wants a login, and says whose a pigeon is."""
import hashlib
import hmac
import socket
import threading

SALT = b"columba"
KNOWN = hashlib.pbkdf2_hmac("sha256", b"homing", SALT, @{secret})


def answer(words, state):
    if words[:1] == ["login"] and len(words) == 3:
        given = hashlib.pbkdf2_hmac("sha256", words[2].encode(), SALT, @{secret})
        state["in"] = hmac.compare_digest(given, KNOWN)
        return "ok" if state["in"] else "no"
    if not state.get("in"):
        return "login first"
    if words[:1] == ["ring"]:
        number = int(words[1])
        return f"owner {number * 31 % @{lofts}} hatched {2016 + number % 9} {'cock' if number % 2 else 'hen'}"
    return "what?"


def serve(caller):
    state = {}
    with caller, caller.makefile("rb") as lines:
        try:
            caller.sendall(b"registry of rings, ready\n")
            for line in lines:
                words = line.decode().split()
                if words == ["bye"]:
                    break
                caller.sendall(answer(words, state).encode() + b"\n")
        except OSError:
            pass


def main():
    door = socket.create_server(("127.0.0.1", @{registry}), backlog=100)
    while True:
        caller, _ = door.accept()
        caller.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=serve, args=(caller,), daemon=True).start()


main()
