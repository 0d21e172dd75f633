<?php
// Mails the invoices of the day; each by a child of its own.
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

$folder = '@{work}/@{outbox}';
mkdir($folder);

function @{fn}(string $folder, int $n): int
{
    $child = pcntl_fork();
    if ($child === 0) {
        usleep(@{send_ms} * 1000);
        file_put_contents("$folder/invoice-" . $n % 25, "invoice $n\n");
        posix_kill(posix_getpid(), SIGKILL);
    }
    return $child;
}

if ('@{reap}' === 'sometimes') {
    pcntl_async_signals(true);
    pcntl_signal(SIGCHLD, function () {
        while (pcntl_waitpid(-1, $status, WNOHANG) > 0);
    });
}
$units = 0;
$busy = 0.0;
$began = now();
while (now() - $began < @{seconds}) {
    $start = now();
    $child = @{fn}($folder, $units);
    if ('@{reap}' === 'at once') {
        pcntl_waitpid($child, $status);
    }
    $units++;
    $busy += now() - $start;
    wait_until($began + $units / @{rate});
}
report($units, $busy, 0.0);
