<?php
// Exports the orders of each period as a file of its own; the last few are kept.
const OUTBOX = '@{work}/@{outbox}';
const GATHER = @{gather};

function rows(int $period): array
{
    $pad = str_repeat('k', max(1, @{width} - 10));
    $rows = [];
    for ($i = 0; $i < @{used}; $i++) {
        $rows[] = [($period + $i) % 1000, $pad, $i % 90];
    }
    return $rows;
}

function @{fn}($out, array $rows): float
{
    $start = hrtime(true);
    $text = '';
    foreach ($rows as $row) {
        if (GATHER === 0) {
            fwrite($out, $row[0] . ',' . $row[1] . ',' . $row[2] . "\n");
            continue;
        }
        $text .= $row[0] . ',' . $row[1] . ',' . $row[2] . "\n";
        if (strlen($text) >= GATHER) {
            fwrite($out, $text);
            $text = '';
        }
    }
    if ($text !== '') {
        fwrite($out, $text);
    }
    return (hrtime(true) - $start) / 1e9;
}

@mkdir(OUTBOX);
$rate = @{load} * 450000 / @{lines};
$rows = rows(0);
[$units, $busy, $writing, $began] = [0, 0.0, 0.0, hrtime(true)];
while ((hrtime(true) - $began) / 1e9 < @{seconds}) {
    $start = hrtime(true);
    $path = sprintf('%s/%05d-%s', OUTBOX, $units, '@{export}');
    $out = fopen($path, 'xb');
    if (GATHER > 0) {
        stream_set_chunk_size($out, GATHER);
    }
    $writing += @{fn}($out, $rows);
    fclose($out);
    if ($units >= 3) {
        unlink(sprintf('%s/%05d-%s', OUTBOX, $units - 3, '@{export}'));
    }
    $units++;
    $busy += (hrtime(true) - $start) / 1e9;
    usleep((int) max(0, ($units / $rate - (hrtime(true) - $began) / 1e9) * 1e6));
}
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $writing]));
