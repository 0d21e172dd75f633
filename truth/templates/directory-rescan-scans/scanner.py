"""A scanner: each now and then a new scan, put into the folder when it is complete."""
import os
import random
import time

chance = random.Random(4)
number = @{older}
while True:
    time.sleep(@{gap} / 1000 * chance.uniform(0.6, 1.4))
    number += 1
    with open("tray/page", "wb") as out:
        out.write(b"client %d\n" % chance.randrange(4000) + chance.randbytes(1024) * @{pages})
    os.rename("tray/page", f"@{folder}/@{stem}-{number:06}.tif")
