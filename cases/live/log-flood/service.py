"""Handles 300 orders and logs them: service.py LEVEL."""
import logging
import sys

logging.basicConfig(filename="service.log", level=sys.argv[1], format="%(asctime)s %(levelname)s %(name)s %(message)s")
log = logging.getLogger("orders")
for order in range(300):
    for step in range(20):
        log.debug("order %d step %d: state %r before the transition", order, step, {"step": step, "open": step < 19})
    if order % 50 == 0:
        log.info("%d orders done", order)
