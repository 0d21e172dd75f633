"""What else lives on the machine: one process for each tenant."""
import os
import signal

for _ in range(@{others}):
    if os.fork() == 0:
        signal.pause()
        os._exit(0)
open("@{work}/tenants.ready", "w").close()
signal.pause()
