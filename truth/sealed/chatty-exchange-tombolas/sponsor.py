"""The sponsor's office, some way off: writes down what it is told, and says so."""
import socket
import threading
import time


def word(line, state):
    verb, _, rest = line.partition(" ")
    if verb == "HAMPER":
        state.clear()
        state["number"] = rest
    elif verb == "GOODS":
        state.setdefault("goods", []).append(rest)
    elif verb == "CLOSE":
        return f"200 {len(state.get('goods', []))} goods in {state.get('number')}"
    else:
        state[verb] = rest
    return "200 noted"


def serve(client):
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    state, rest = {}, b""
    while got := client.recv(65536):
        rest += got
        *lines, rest = rest.split(b"\n")
        if @{way}:
            time.sleep(@{way} / 1000)
        client.sendall("".join(word(line.decode(), state) + "\n" for line in lines).encode())
    client.close()


door = socket.create_server(("127.0.0.1", @{port}))
while True:
    asker, _ = door.accept()
    threading.Thread(target=serve, args=(asker,), daemon=True).start()
