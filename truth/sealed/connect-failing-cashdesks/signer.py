"""Signs receipts: a line with a digest, a line with its seal."""
import hashlib
import hmac
import os
import socket
import threading
import time


def door(path):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(16)
    return listener


def serve(line):
    with line, line.makefile("rwb") as file:
        for digest in file:
            file.write(hmac.new(b"drawer key", digest.strip(), hashlib.sha256).hexdigest().encode() + b"\n")
            file.flush()


# The one of last year is not there any more; its socket is.
door("@{work}/@{spare}").close()
listener = door("@{work}/@{signer}")
if "@{state}" == "ended":
    listener.close()
with open("@{work}/signer.ready", "w") as out:
    out.write(str(os.getpid()))
while "@{state}" == "ended":
    time.sleep(60)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
