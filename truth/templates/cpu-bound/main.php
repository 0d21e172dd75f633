<?php
// Prices the lines of orders from the price list.
function now(): float
{
    return hrtime(true) / 1e9;
}

function wait_until(float $due): void
{
    while (($rest = $due - now()) > 0) {
        usleep((int)($rest * 1e6) + 1);
    }
}

function report(int $units, float $seconds, float $culprit): void
{
    file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $seconds, 'culprit' => $culprit]));
}

function @{fn}(array $list, array $byName, string $name): float
{
    if ('@{index}' === 'map') {
        return $byName[$name] ?? 0.0;
    }
    foreach ($list as $row) {
        if (strtolower(trim($row['name'])) === $name) {
            return $row['price'];
        }
    }
    return 0.0;
}

$list = [];
for ($i = 0; $i < @{size}; $i++) {
    $list[] = ['name' => sprintf(' Article %d ', $i * 7919 % @{size}), 'price' => $i % 977 / 10];
}
$byName = [];
foreach ($list as $row) {
    $byName[strtolower(trim($row['name']))] = $row['price'];
}

mt_srand(7);
$units = 0;
$busy = $culprit = $total = 0.0;
$began = now();
while (now() - $began < @{seconds}) {
    $start = now();
    $order = [];
    for ($line = 0; $line < @{lines}; $line++) {
        $order[] = ['name' => 'article ' . mt_rand(0, @{size} - 1), 'count' => mt_rand(1, 9)];
    }
    $asked = now();
    foreach ($order as $line) {
        $total += $line['count'] * @{fn}($list, $byName, $line['name']);
    }
    $culprit += now() - $asked;
    $invoice = json_encode(['lines' => $order, 'total' => $total]);
    $units++;
    $busy += now() - $start;
    wait_until($began + $units / @{rate});
}
report($units, $busy, $culprit);
