"""A name server: name_server.py ADDRESS silent|answering READY_FILE. It knows one address for all names."""
import socket
import sys

server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind((sys.argv[1], 53))
open(sys.argv[3], "w").close()
while True:
    query, asker = server.recvfrom(512)
    if sys.argv[2] == "answering":
        header = query[:2] + b"\x81\x80\0\1\0\1\0\0\0\0"
        record = b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\x7f\0\0\1"
        server.sendto(header + query[12:] + record, asker)
