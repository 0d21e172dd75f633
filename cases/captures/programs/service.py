"""Takes orders over TCP and hands each on to the database over its unix socket."""
import socket
import sys

PORT, PATH = int(sys.argv[1]), sys.argv[2]
listener = socket.create_server(("127.0.0.1", PORT))
while True:
    client, _ = listener.accept()
    database = socket.socket(socket.AF_UNIX)
    database.connect(PATH)
    try:
        while client.recv(64):
            database.sendall(b"store")
            client.sendall(database.recv(64))
    except ConnectionResetError:
        pass
    database.close()
    client.close()
