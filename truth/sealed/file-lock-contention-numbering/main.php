<?php
// Writes invoices: each gets the next number.

function now(): float
{
    return hrtime(true) / 1e9;
}

function @{fn2}($numbers): int
{
    flock($numbers, LOCK_EX);
    rewind($numbers);
    $number = (int) fgets($numbers) + 1;
    rewind($numbers);
    fwrite($numbers, (string) $number);
    fflush($numbers);
    flock($numbers, LOCK_UN);
    return $number;
}

function invoice(int $number): int
{
    $check = $number;
    for ($i = 0; $i < @{lines}; $i++) {
        $check = crc32(sprintf('%d;%d;article %d;%d', $number, $i, $check % 9973, $check % 300));
    }
    return $check;
}

$numbers = fopen('@{work}/@{numbers}', 'r+') ?: exit(1);
[$units, $busy, $culprit, $check] = [0, 0.0, 0.0, 0];
$began = now();
while (($start = now()) - $began < @{seconds}) {
    $number = @{fn2}($numbers);
    $culprit += now() - $start;
    $check ^= invoice($number);
    $units++;
    $busy += now() - $start;
    $rest = $began + $units / @{rate} - now();
    if ($rest > 0) {
        usleep((int) ($rest * 1e6));
    }
}
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $culprit]));
