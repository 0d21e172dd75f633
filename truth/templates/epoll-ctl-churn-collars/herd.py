"""The cattle, each with a collar that tells where it is, and the ranch that gets to know it."""
import random
import resource
import socket
import threading
import time


def ranch():
    door = socket.create_server(("127.0.0.1", @{ranch}))
    while True:
        threading.Thread(target=hear, args=(door.accept()[0],), daemon=True).start()


def hear(line):
    while line.recv(65536):
        pass


def join():
    while True:
        try:
            return socket.create_connection(("127.0.0.1", @{door}))
        except ConnectionRefusedError:
            time.sleep(0.02)


def place(number, chance):
    return f"{number};{chance.uniform(46.9, 47.3):.6f};{chance.uniform(8.1, 8.9):.6f};{int(time.time())}\n".encode()


def main():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    threading.Thread(target=ranch, daemon=True).start()
    chance = random.Random(5)
    lines = [join() for _ in range(@{herd})] if "@{lines}" == "kept" else []
    due = time.monotonic()
    while True:
        number = chance.randrange(@{herd})
        try:
            if lines:
                lines[number].sendall(place(number, chance))
            else:
                with join() as line:
                    line.sendall(place(number, chance))
        except (ConnectionResetError, BrokenPipeError):
            return time.sleep(3600)
        due = max(due + 1 / @{rate}, time.monotonic() - 0.02)
        time.sleep(max(0.0, due - time.monotonic()))


main()
