CREATE TABLE orders (id int PRIMARY KEY, customer int, placed date);
CREATE TABLE items (order_id int, name text, price int);
INSERT INTO orders SELECT n, n % 50, date '2026-01-01' + n % 300 FROM generate_series(1, 3000) n;
INSERT INTO items SELECT n % 3000 + 1, 'item ' || n, n % 97 FROM generate_series(1, 9000) n;
CREATE INDEX ON orders (customer);
CREATE INDEX ON items (order_id);
ANALYZE;
