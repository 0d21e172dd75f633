import socket
import struct
import sys
import threading
import time

# The machines of one site: each connection is told what its machine measures.
port, pace, leaves, leaving, reset = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3] == "1", float(sys.argv[4]), sys.argv[5] == "1"


def machine(line):
    try:
        if not line.recv(64):
            return
        began, n = time.monotonic(), 0
        while True:
            line.sendall(b"moisture %d fuel %d tonnes %d\n" % (n * 7 % 100, n * 13 % 100, n * 3 % 40))
            n += 1
            if leaves and time.monotonic() - began > leaving:
                break
            time.sleep(max(0.0, began + n / pace - time.monotonic()))
        if reset:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    except OSError:
        pass
    finally:
        line.close()


door = socket.create_server(("127.0.0.1", port), backlog=64)
while True:
    line, sender = door.accept()
    threading.Thread(target=machine, args=(line,), daemon=True).start()
