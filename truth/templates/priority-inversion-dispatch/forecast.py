"""Where the next calls will come from: some models of it, each in a process of its own, all of the time."""
import os
import sys


def model(number):
    level = number + 1.0
    while os.getppid() == parent:
        for hour in range(200_000):
            level += (hour % 24 - level) * 0.001


with open("/sys/fs/cgroup/cpu/@{slice}/cgroup.procs", "w") as group:
    group.write(str(os.getpid()))
os.setpriority(os.PRIO_PROCESS, 0, 0)
parent = os.getpid()
for number in range(int(sys.argv[1]) - 1):
    if os.fork() == 0:
        model(number)
        os._exit(0)
while True:
    sum(hour % 24 for hour in range(200_000))
