<?php
// Mails of the shop: each theme may bring its own text for each kind of mail.
$places = [];
for ($i = 1; $i <= @{dirs}; $i++)
    $places[] = "@{work}/@{base}/p$i/@{sub}";
if ('@{at}' === 'first')
    array_unshift($places, array_pop($places));
set_include_path(implode(PATH_SEPARATOR, $places));

$kept = [];
$culprit = 0.0;

function now(): float
{
    return hrtime(true) / 1e9;
}

function @{fn}(int $number): array
{
    global $kept, $culprit;
    if (isset($kept[$number]))
        return $kept[$number];
    $asked = now();
    $text = include "@{stem}_$number.php";
    $culprit += now() - $asked;
    if (@{keep})
        $kept[$number] = $text;
    return $text;
}

function @{fn2}(array $text, int $n): string
{
    $body = $text['subject'] . $n;
    for ($i = 0; $i < @{extra}; $i++)
        $body = md5($body);
    return $body;
}

if (@{keep})
    for ($i = 1; $i <= @{names}; $i++)
        @{fn}($i);
$culprit = $busy = 0.0;
$units = 0;
$began = now();
while (now() - $began < @{seconds}) {
    $start = now();
    @{fn2}(@{fn}(1 + $units % @{names}), $units);
    $units++;
    $busy += now() - $start;
    $rest = $began + $units / @{rate} - now();
    if ($rest > 0)
        usleep((int)($rest * 1e6));
}
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $culprit]));
