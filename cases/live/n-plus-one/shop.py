"""A shop that lists a customer's orders with their items: shop.py PORT DATABASE_PORT [joined]. One connection to the database a thread."""
import http.server
import json
import sys
import threading

import psycopg2

PORT, DATABASE = int(sys.argv[1]), f"host=127.0.0.1 port={sys.argv[2]} user=shop dbname=shop sslmode=disable gssencmode=disable"
JOINED = "joined" in sys.argv[3:]
local = threading.local()


def cursor():
    if not hasattr(local, "connection"):
        local.connection = psycopg2.connect(DATABASE)
        local.connection.autocommit = True
    return local.connection.cursor()


def orders_of(customer):
    ask = cursor()
    ask.execute("SELECT id, placed FROM orders WHERE customer = %s", (customer,))
    orders = {number: {"placed": str(placed), "items": []} for number, placed in ask.fetchall()}
    if JOINED:
        ask.execute("SELECT order_id, name, price FROM items WHERE order_id = ANY(%s)", (list(orders),))
        for number, *item in ask.fetchall():
            orders[number]["items"].append(item)
    else:
        for number, order in orders.items():
            ask.execute("SELECT name, price FROM items WHERE order_id = %s", (number,))
            order["items"] = ask.fetchall()
    return orders


class Shop(http.server.BaseHTTPRequestHandler):
    disable_nagle_algorithm = True
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = json.dumps(orders_of(int(self.path.rsplit("/", 1)[1]))).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Shop).serve_forever()
