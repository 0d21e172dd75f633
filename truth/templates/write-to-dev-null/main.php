<?php
// A child per queue works its batches off; the father waits and adds up.
function trace($to, int $n, string $record): void
{
    fwrite($to, "$n $record\n");
}

function @{fn}(array $records, $to, array &$spent): int
{
    $sum = 0;
    foreach ($records as $n => $record) {
        if ($n % 16 === 0) {
            $sum += ord($record[9]);
        }
    }
    $start = hrtime(true);
    for ($n = 0; $n < @{traced}; $n++) {
        trace($to, $n, $records[$n]);
    }
    $spent['culprit'] += (hrtime(true) - $start) / 1e9;
    return $sum;
}

function work(): void
{
    $to = fopen('/dev/null', 'ab');
    $records = [];
    for ($i = 0; $i < @{items}; $i++) {
        $records[] = str_pad('{"id": ' . $i % 100 . ', "text": "', @{width}, 'lorem ipsum ') . '"}';
    }
    $spent = ['units' => 0, 'seconds' => 0.0, 'culprit' => 0.0];
    $rate = @{load} * 900000 / @{items};
    $began = hrtime(true);
    while ((hrtime(true) - $began) / 1e9 < @{seconds}) {
        $start = hrtime(true);
        @{fn}($records, $to, $spent);
        $spent['units']++;
        $spent['seconds'] += (hrtime(true) - $start) / 1e9;
        usleep((int) max(0, ($spent['units'] / $rate - (hrtime(true) - $began) / 1e9) * 1e6));
    }
    file_put_contents('@{report}', json_encode($spent));
}

$child = pcntl_fork();
if ($child === 0) {
    work();
    exit(0);
}
pcntl_waitpid($child, $status);
exit(pcntl_wexitstatus($status));
