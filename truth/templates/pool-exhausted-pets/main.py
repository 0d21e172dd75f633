"""The border post for pets: GET /pets/CHIP says whether one may enter. Each thread takes travellers off the door, and has a line of its own to the register."""
import json
import re
import socket
import struct
import threading


class Officer(threading.Thread):
    def __init__(self, door, number):
        super().__init__(name=f"officer-{number}")
        self.door = door
        self.register = socket.socket(socket.AF_UNIX)
        self.register.connect("@{work}/@{register}")
        self.answers = self.register.makefile("rb")

    def @{fn}(self, chip):
        text = json.dumps({"chip": chip}).encode()
        self.register.sendall(struct.pack(">H", len(text)) + text)
        size, = struct.unpack(">H", self.answers.read(2))
        return json.loads(self.answers.read(size))

    @staticmethod
    def judge(pet):
        if not pet["rabies"]:
            return {"enter": False, "why": "no vaccination"}
        return {"enter": True, "species": pet["species"], "until": pet["until"]}

    def receive(self, traveller):
        asked = b""
        while b"\r\n\r\n" not in asked:
            part = traveller.recv(4096)
            if not part:
                return
            asked += part
        chip = re.search(rb"/pets/(\d+)", asked)
        body = json.dumps(self.judge(self.@{fn}(int(chip[1])))).encode()
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
        traveller.sendall(head + body)

    def run(self):
        while True:
            traveller, _ = self.door.accept()
            with traveller:
                try:
                    self.receive(traveller)
                except ConnectionError:
                    pass


door = socket.create_server(("127.0.0.1", @{port}), backlog=256)
for number in range(@{threads}):
    Officer(door, number).start()
