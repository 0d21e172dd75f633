"""All pagers of the house: each has a connection, says who it is, and is silent."""
import select
import socket

lines, poll = {}, select.epoll()
for number in range(@{pagers}):
    line = socket.create_connection(("127.0.0.1", @{port}), 30)
    line.sendall(b"pager %d\n" % number)
    # The gateway knows it.
    line.recv(100)
    line.setblocking(False)
    lines[line.fileno()] = line
    poll.register(line, select.EPOLLIN)
open("@{work}/pagers.ready", "w").close()
while True:
    for fd, _ in poll.poll():
        if not lines[fd].recv(4096):
            poll.unregister(fd)
