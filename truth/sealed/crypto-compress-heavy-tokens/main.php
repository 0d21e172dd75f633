<?php
// Tells customers what they have used: each has a key, of which only the stretched form is stored.

const ROUNDS = @{rounds}, TRUST = @{trust};
$stored = $trusted = [];

function keyOf(int $customer): string
{
    return "key-$customer-" . $customer * 7919 % 10007;
}

function @{fnCamel}(int $customer, string $key): bool
{
    global $stored, $trusted;
    $quick = hash('sha256', $key);
    if (isset($trusted[$customer]) && $trusted[$customer][0] === $quick && $trusted[$customer][1]-- > 0) {
        return true;
    }
    $stretched = hash_pbkdf2('sha256', $key, "salt-$customer", ROUNDS, 32, true);
    $stored[$customer] ??= $stretched;
    $right = hash_equals($stored[$customer], $stretched);
    if ($right) {
        $trusted[$customer] = [$quick, TRUST];
    }
    return $right;
}

function usage(int $customer): int
{
    $total = 0;
    for ($i = 0; $i < @{entries}; $i++) {
        $total += ($customer * 31 + $i * 17) % 97;
    }
    return $total;
}

for ($customer = 0; $customer < @{customers}; $customer++) {
    @{fnCamel}($customer, keyOf($customer));
}
$listener = stream_socket_server('tcp://127.0.0.1:@{port}') ?: exit(1);
$clients = [];
while (true) {
    $read = [$listener, ...$clients];
    $write = $except = null;
    stream_select($read, $write, $except, null);
    foreach ($read as $ready) {
        if ($ready === $listener) {
            $client = stream_socket_accept($listener);
            $clients[(int) $client] = $client;
            continue;
        }
        $line = fgets($ready);
        if ($line === false) {
            unset($clients[(int) $ready]);
            fclose($ready);
            continue;
        }
        $customer = (int) explode(' ', trim($line))[1] % @{customers};
        fwrite($ready, @{fnCamel}($customer, keyOf($customer)) ? 'used ' . usage($customer) . "\n" : "no\n");
    }
}
