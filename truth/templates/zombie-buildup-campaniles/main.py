"""The controller of a carillon: rings the changes that it is asked for, and has them announced."""
import asyncio
import os
import socket


def change(row):
    """Plain hunt on the bells: the order of the row."""
    bells = list(range(1, @{bells} + 1))
    for step in range(row % (2 * @{bells})):
        for at in range(step % 2, len(bells) - 1, 2):
            bells[at], bells[at + 1] = bells[at + 1], bells[at]
    return " ".join(map(str, bells))


class Tower:
    def __init__(self):
        self.started = []

    def @{fn}(self, row, text):
        board = f"@{work}/@{towers}/board-{row % 12}"
        pid = os.posix_spawn("@{work}/@{announcer}", ["@{announcer}", board, text], os.environ)
        if "@{after}" == "awaited":
            asyncio.get_running_loop().run_in_executor(None, os.waitpid, pid, 0)
        elif "@{after}" == "next time":
            self.started = [each for each in self.started if os.waitpid(each, os.WNOHANG) == (0, 0)] + [pid]

    async def serve(self, asked, answers):
        answers.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while line := await asked.readline():
            row = int(line.split()[1])
            text = change(row)
            try:
                self.@{fn}(row, text)
                answers.write(f"rung {text}\n".encode())
            except OSError as error:
                answers.write(f"error {error}\n".encode())
            await answers.drain()
        answers.close()


async def main():
    server = await asyncio.start_server(Tower().serve, "127.0.0.1", @{port})
    await server.serve_forever()


asyncio.run(main())
