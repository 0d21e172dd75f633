<?php
// Carts of wholesale customers: each event of a scanner puts a line into one of them. The oldest line goes when a cart is full.

const LINES = @{lines}, CARTS = @{carts};
ini_set('memory_limit', '1G');

function now(): float
{
    return hrtime(true) / 1e9;
}

function line(int $number): array
{
    return [
        'sku' => sprintf('S-%06d', $number * 7919 % 99991),
        'pieces' => $number % 12 + 1,
        'cents' => $number * 31 % 9973,
        'text' => 'article ' . str_repeat('x', @{text}),
    ];
}

function fullCart(int $customer): string|SplQueue
{
    $lines = array_map(fn ($number) => line($customer * 1000 + $number), range(0, LINES - 1));
    if ('@{store}' === 'text') {
        return json_encode(['customer' => $customer, 'lines' => $lines]);
    }
    $cart = new SplQueue();
    foreach ($lines as $entry) {
        $cart->enqueue(json_encode($entry));
    }
    return $cart;
}

function @{fnCamel}(array &$carts, int $customer, array $entry): int
{
    if ('@{store}' === 'lines') {
        $carts[$customer]->dequeue();
        $carts[$customer]->enqueue(json_encode($entry));
        return count($carts[$customer]);
    }
    $cart = json_decode($carts[$customer], true);
    array_shift($cart['lines']);
    $cart['lines'][] = $entry;
    $carts[$customer] = json_encode($cart);
    return count($cart['lines']);
}

$carts = array_map('fullCart', range(0, CARTS - 1));
[$units, $busy, $culprit, $total] = [0, 0.0, 0.0, 0];
$began = now();
while (($start = now()) - $began < @{seconds}) {
    $entry = line($units);
    $asked = now();
    $total += @{fnCamel}($carts, $units % CARTS, $entry);
    $culprit += now() - $asked;
    $units++;
    $busy += now() - $start;
    $rest = $began + $units / @{rate} - now();
    if ($rest > 0) {
        usleep((int) ($rest * 1e6));
    }
}
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $culprit]));
