"""Makes functions anew, time after time, where those before were freed, and tells where each waits."""
import sys


def make(number):
    lines = ["def made():"]
    lines += ["    number = 1"] * (number % 3)
    lines += [""] * (number * 7 % 50)
    lines += ["    print('waits at', {}, flush=True)".format(len(lines) + 1)]
    lines += ["    sys.stdin.readline()"]
    space = {"sys": sys}
    exec(compile("\n".join(lines), sys.argv[1], "exec"), space)
    return space["made"]


for number in range(1000):
    make(number)()
