<?php
// Makes the catalogue of what lies in the inbox: each file with its checksum.
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

$folder = '@{work}/@{inbox}';
mkdir($folder);
for ($i = 0; $i < @{files}; $i++) {
    file_put_contents("$folder/scan-$i.txt", str_repeat("line $i of the scan\n", 40 + $i));
}

function @{fn}(string $path, int $n): string
{
    if ('@{way}' === 'call' && $n % @{every} === 0) {
        exec('@{tool} ' . escapeshellarg($path), $out);
        return explode(' ', $out[0])[0];
    }
    return hash(substr('@{tool}', 0, -3), "$path $n");
}

$catalogue = [];
$units = 0;
$busy = $culprit = 0.0;
$began = now();
while (now() - $began < @{seconds}) {
    $start = now();
    $path = "$folder/scan-" . $units % @{files} . '.txt';
    $sum = @{fn}($path, $units);
    $culprit += now() - $start;
    $catalogue[$path] = ['sum' => $sum, 'seen' => $units];
    $units++;
    $busy += now() - $start;
    wait_until($began + $units / @{rate});
}
report($units, $busy, $culprit);
