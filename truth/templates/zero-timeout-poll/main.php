<?php
// Looks for double entries; every now and then forgets the old ones.
function @{fn}(array $journals, float $next): array
{
    global $busy, $culprit;
    $start = microtime(true);
    $left = @{patience} ? max(0.001, $next - $start) : 0;
    $write = $except = null;
    stream_select($journals, $write, $except, (int)$left, (int)(($left - (int)$left) * 1e6));
    if (!@{patience}) {
        $culprit += microtime(true) - $start;
        $busy += microtime(true) - $start;
    }
    return $journals;
}

[$units, $busy, $culprit, $known] = [0, 0.0, 0.0, []];
$journals = [stream_socket_client('tcp://127.0.0.1:@{port}')];
$began = microtime(true);
$next = $began + @{flush} / 1000;
while (microtime(true) - $began < @{seconds}) {
    foreach (@{fn}($journals, $next) as $journal) {
        do {
            $line = fgets($journal);
            $start = microtime(true);
            do {
                $known[md5($line)] = ($known[md5($line)] ?? 0) + 1;
            } while (microtime(true) - $start < @{effort} / 1000);
            $units++;
            $busy += microtime(true) - $start;
            $again = [$journal];
            $write = $except = null;
        } while (@{patience} == 2 && stream_select($again, $write, $except, 0));
    }
    if (microtime(true) >= $next) {
        $known = [];
        $next = microtime(true) + @{flush} / 1000;
    }
}
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $culprit]));
