"""The fire brigade's desk for permits: one officer, who takes the requests as they come, and looks into each."""
import queue
import socket
import threading
import time


def take(caller, desk):
    with caller, caller.makefile("rb") as lines:
        try:
            for line in lines:
                desk.put((caller, line.decode().split()))
        except OSError:
            pass


def officer(desk):
    permits = {}
    while True:
        caller, words = desk.get()
        if words[0] == "route":
            time.sleep(@{known_ms} / 1000)
            answer = "route clear"
        else:
            key = words[1]
            if key in permits:
                time.sleep(@{known_ms} / 1000)
            else:
                time.sleep(@{look_ms} / 1000)
                permits[key] = "granted" if int(words[2]) % 9 else "refused"
            answer = f"permit {key} {permits[key]}"
        try:
            caller.sendall(answer.encode() + b"\n")
        except OSError:
            pass


def main():
    desk = queue.Queue()
    threading.Thread(target=officer, args=(desk,), daemon=True).start()
    door = socket.create_server(("127.0.0.1", @{brigade}), backlog=200)
    while True:
        caller, _ = door.accept()
        caller.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=take, args=(caller, desk), daemon=True).start()


main()
