<?php
function now(): float {
    return hrtime(true) / 1e9;
}

function wait_until(float $due): void {
    $rest = $due - now();
    if ($rest > 0) {
        usleep((int)($rest * 1e6));
    }
}

function report(int $units, float $busy, float $culprit): void {
    file_put_contents("@{report}", json_encode(["units" => $units, "seconds" => $busy, "culprit" => $culprit]));
}
posix_setrlimit(POSIX_RLIMIT_NOFILE, @{limit}, @{limit});

$known = [];
$missed = 0;

function @{fn}(int $number): ?string
{
    global $known, $missed;
    $file = @fopen("@{work}/@{folder}/part-" . ($number % 40) . ".txt", "r");
    if (!$file) {
        $missed++;
        return null;
    }
    $line = fgets($file);
    $known[] = $file;
    if (@{closes} && count($known) > @{cap}) {
        fclose(array_shift($known));
    }
    return $line;
}

[$units, $busy, $began] = [0, 0.0, now()];
while (now() - $began < @{seconds}) {
    $start = now();
    @{fn}($units);
    $units++;
    $busy += now() - $start;
    wait_until($began + $units / @{rate});
}
$known = [];
echo "$missed missed\n";
report($units, $busy, 0.0);
