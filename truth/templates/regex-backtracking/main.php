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
ini_set("pcre.backtrack_limit", "2000000000");
ini_set("pcre.jit", "0");

// Is the list of the form closed by a total?
function @{fn}(string $list): bool
{
    if (@{careful}) {
        return strpos($list, "=;") !== false;
    }
    return preg_match('/^\w+.*.*=;/', $list) === 1;
}

$lists = array_map(fn($n) => "pos$n;" . str_repeat("12 x;", intdiv(@{length}, 24) + 1), range(1, 6));
[$units, $busy, $began] = [0, 0.0, now()];
while (now() - $began < @{seconds}) {
    $start = now();
    @{fn}($lists[$units % 6]);
    $units++;
    $busy += now() - $start;
    wait_until($began + $units / @{rate});
}
report($units, $busy, $busy);
