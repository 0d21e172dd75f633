<?php
// Computes the premiums of policies.
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

function used(): float
{
    $usage = getrusage();
    return $usage['ru_utime.tv_sec'] + $usage['ru_stime.tv_sec'] + ($usage['ru_utime.tv_usec'] + $usage['ru_stime.tv_usec']) / 1e6;
}

function @{fn}(int $policy, int $ms): int
{
    $value = $policy;
    for ($i = 0; $i < $ms * 45000; $i++) {
        $value = ($value * 31 + $i) % 1000003;
    }
    return $value;
}

file_put_contents('@{work}/limits/cgroup.procs', (string)getmypid());
$units = $sum = 0;
$busy = $culprit = 0.0;
$began = now();
while (now() - $began < @{seconds}) {
    $start = now();
    $before = used();
    $sum += @{fn}($units, @{heavy} && $units % max(1, @{heavy}) === 5 ? 45 : @{small_ms});
    $took = now() - $start;
    $units++;
    $busy += $took;
    $culprit += max(0.0, $took - (used() - $before));
    wait_until($began + $units * @{small_ms} / 1000 / @{load});
}
report($units, $busy, $culprit);
