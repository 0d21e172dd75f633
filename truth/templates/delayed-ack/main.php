<?php
// Reports refunds to the ledger's broker.
$broker = socket_create(AF_INET, SOCK_STREAM, SOL_TCP);
socket_connect($broker, '127.0.0.1', @{back}) || exit(3);
$spent = 0.0;

function @{fn}($broker, array $refund, float &$spent): string
{
    $body = json_encode($refund);
    $began = hrtime(true);
    $pieces = ['PUT refunds ' . strlen($body) . "\n", $body];
    foreach (@{split} ? $pieces : [implode('', $pieces)] as $piece) {
        socket_write($broker, $piece);
    }
    $answer = socket_read($broker, 128, PHP_BINARY_READ);
    $spent += (hrtime(true) - $began) / 1e9;
    return $answer;
}

$began = hrtime(true) / 1e9;
[$units, $busy] = [0, 0.0];
while (hrtime(true) / 1e9 - $began < @{seconds}) {
    $start = hrtime(true);
    $seal = (string)$units;
    for ($i = 0; $i < @{rounds}; $i++) {
        $seal = sha1($seal);
    }
    @{fn}($broker, ['refund' => $units, 'seal' => $seal, 'text' => str_repeat('.', @{bytes})], $spent);
    $units++;
    $busy += (hrtime(true) - $start) / 1e9;
    $rest = $began + $units / @{pace} - hrtime(true) / 1e9;
    if ($rest > 0) {
        usleep((int)($rest * 1e6));
    }
}
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $spent]));
