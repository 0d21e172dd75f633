import socket
import time

line = socket.create_connection(("127.0.0.1", @{store}))
answers = line.makefile("rb")
line.sendall(b"CONFIG SET save \"\"\r\n")
answers.readline()
for i in range(@{entries} * 4):
    line.sendall(b"SET @{prefix}:%d %s\r\n" % (i, b"%07d" % i + b"x" * @{bytes}))
    answers.readline()
open("@{work}/filled", "w").close()
time.sleep(1000)
