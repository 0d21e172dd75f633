<?php
// Tells the size and the sum of an order's export; the customer gets one line.
function now(): float
{
    return hrtime(true) / 1e9;
}

$culprit = $busy = 0.0;
$units = 0;
$row = str_pad('2024-03-11;17;parcel;', 63, 'x') . "\n";
$export = str_repeat($row, @{size} * 16);

function @{fn}(string $export): string
{
    global $culprit;
    $began = now();
    $name = tempnam('@{work}/@{folder}', '@{stem}');
    file_put_contents($name, $export);
    $text = file_get_contents($name);
    unlink($name);
    $culprit += now() - $began;
    return $text;
}

function @{fn2}(string $text): string
{
    return hash('crc32b', substr($text, 0, intdiv(strlen($text) * @{extra}, 100)));
}

$began = now();
while (now() - $began < @{seconds}) {
    $start = now();
    $text = @{spool} && $units % max(1, @{spool}) == 0 ? @{fn}($export) : $export;
    $answer = strlen($text) . ' ' . @{fn2}($text);
    $units++;
    $busy += now() - $start;
    $rest = $began + $units / @{rate} - now();
    if ($rest > 0)
        usleep((int)($rest * 1e6));
}
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $culprit, 'last' => $answer]));
