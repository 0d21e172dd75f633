<?php
// Draws charts of readings: a canvas of bytes, of which the points are set.
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

function @{fn}(?string &$canvas, int $size): void
{
    if ($canvas === null) {
        $canvas = str_repeat(' ', $size);
    }
}

$size = @{mb} * 1024 * 256;
$canvas = null;
$units = 0;
$busy = $culprit = 0.0;
$began = now();
mt_srand(3);
while (now() - $began < @{seconds}) {
    $start = now();
    @{fn}($canvas, $size);
    $culprit += now() - $start;
    $points = [];
    for ($i = 0; $i < @{touched} / 10; $i++) {
        $points[] = $at = mt_rand(0, $size - 1);
        $canvas[$at] = '*';
    }
    $sum = strlen($canvas);
    $asked = now();
    if ('@{mode}' === 'kept') {
        foreach ($points as $at) {
            $canvas[$at] = ' ';
        }
    } else {
        $canvas = null;
    }
    $culprit += now() - $asked;
    for ($i = 0; $i < @{mb} * 20 * @{spins}; $i++) {
        $sum = ($sum * 31 + $i) % 1000003;
    }
    $units++;
    $busy += now() - $start;
    wait_until($began + $units / @{rate});
}
report($units, $busy, $culprit);
