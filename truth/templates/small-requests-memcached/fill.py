import socket
import time

line = socket.create_connection(("127.0.0.1", @{cache}))
answers = line.makefile("rb")
for i in range(@{keys}):
    value = b"%d" % (i * 37 % 1000) + b"." * @{bytes}
    line.sendall(b"set @{prefix}:%d 0 0 %d\r\n%s\r\n" % (i, len(value), value))
    answers.readline()
open("@{work}/filled", "w").close()
time.sleep(1000)
