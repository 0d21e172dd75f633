"""Looks at what a program does, for a ticket of the support."""
import os
import subprocess
import time

PID = "@{work}/lockers.pid"

while not os.path.exists(PID):
    time.sleep(0.02)
time.sleep(0.05)
if "@{traced}" == "nobody":
    time.sleep(1000)
if "@{traced}" == "copy":
    pid = subprocess.Popen(["tail", "-F", "-s", "0.2", "@{work}/@{journal}"], stdout=subprocess.DEVNULL).pid
else:
    with open(PID) as file:
        pid = int(file.read())
os.execvp("strace", ["strace", "-q", "-f", "-tt", "-o", "/dev/null", "-p", str(pid)])
