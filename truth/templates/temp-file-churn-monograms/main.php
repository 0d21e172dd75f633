<?php
// Turns monograms into the stitches of an embroidery machine.
const EDGE = @{edge};
const CHUNK = 1 << 17;

$culprit = 0.0;

// What one step has made goes to the next.
function @{fn}(int $order, string $step, string $cloth): string
{
    global $culprit;
    if (($order + 1) % @{every} != 0)
        return $cloth;
    $start = microtime(true);
    $path = tempnam('@{work}/@{spool}', "@{stem}-$step-");
    $file = fopen($path, 'w');
    for ($at = 0; $at < strlen($cloth); $at += CHUNK)
        fwrite($file, substr($cloth, $at, CHUNK));
    fclose($file);
    $read = file_get_contents($path);
    unlink($path);
    $culprit += microtime(true) - $start;
    return $read;
}

// The letters on the cloth: which needle is where.
function draw(string $letters): string
{
    $cloth = '';
    foreach (str_split($letters) as $letter)
        $cloth .= str_repeat(str_pad(str_repeat($letter, intdiv(EDGE, 2)), EDGE, '.'), intdiv(EDGE, 3));
    return $cloth;
}

// The lower threads keep the cloth flat.
function underlay(string &$cloth, int $layer): void
{
    for ($at = $layer * EDGE; $at + EDGE < strlen($cloth); $at += 97 * EDGE)
        for ($x = 0; $x < 12; $x++)
            $cloth[$at + $x * 31] = '=';
}

function stitch(int $order): string
{
    $letters = chr(65 + $order % 26) . chr(65 + intdiv($order, 26) % 26) . chr(65 + $order * 7 % 26);
    $cloth = draw($letters);
    for ($layer = 0; $layer < @{layers}; $layer++) {
        $cloth = @{fn}($order, "layer$layer", $cloth);
        underlay($cloth, $layer);
    }
    return sprintf('%s, seal %08x', $letters, crc32($cloth));
}

$units = 0;
$busy = 0.0;
$began = microtime(true);
$due = $began;
while (microtime(true) - $began < @{seconds}) {
    $start = microtime(true);
    $answer = stitch($units);
    $busy += microtime(true) - $start;
    if ($units++ % 20 == 0)
        echo "$answer\n";
    $due += 1 / @{rate};
    $rest = $due - microtime(true);
    if ($rest > 0)
        usleep((int) ($rest * 1e6));
}
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $culprit]));
