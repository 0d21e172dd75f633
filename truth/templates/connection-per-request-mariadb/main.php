<?php
// Numbers the letters of a round: each gets its number and its date from the database.
mysqli_report(MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT);
$opening = 0.0;

function base(): mysqli
{
    global $opening;
    static $kept = null;
    if (@{keep} && $kept) {
        return $kept;
    }
    $began = hrtime(true);
    $base = new mysqli('127.0.0.1', 'root', '', '', @{db});
    $opening += (hrtime(true) - $began) / 1e9;
    return @{keep} ? $kept = $base : $base;
}

function @{fn}(int $letter): string
{
    $base = base();
    $row = $base->query("SELECT $letter * 7 + 1 AS number, CURRENT_DATE AS day")->fetch_row();
    if (!@{keep}) {
        $base->close();
    }
    return implode('/', $row);
}

$began = hrtime(true) / 1e9;
[$units, $busy] = [0, 0.0];
while (hrtime(true) / 1e9 - $began < @{seconds}) {
    $start = hrtime(true);
    for ($i = 0; $i < @{looks}; $i++) {
        $mark = @{fn}($units * @{calls} + $i);
        for ($r = 0; $r < @{rounds}; $r++) {
            $mark = sha1($mark);
        }
        $letters[$i] = $mark;
    }
    $units++;
    $busy += (hrtime(true) - $start) / 1e9;
    $rest = $began + $units / @{pace} - hrtime(true) / 1e9;
    if ($rest > 0) {
        usleep((int)($rest * 1e6));
    }
}
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $opening]));
