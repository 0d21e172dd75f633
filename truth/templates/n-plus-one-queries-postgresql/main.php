<?php
// Prints the delivery notes of a round.
$base = new PDO('pgsql:host=127.0.0.1;port=@{db};dbname=postgres', 'postgres', '', [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
$spent = 0.0;

function @{fn}(PDO $base, array $owners): array
{
    $rows = $base->query('SELECT owner, number, text FROM @{table} WHERE owner IN (' . implode(',', $owners) . ') ORDER BY owner, number');
    return $rows->fetchAll(PDO::FETCH_GROUP | PDO::FETCH_ASSOC);
}

function notes(PDO $base, int $first, float &$spent): string
{
    $owners = [];
    for ($i = 0; $i < @{shown}; $i++) {
        $owners[] = ($first + $i) % 2000 + 1;
    }
    $began = hrtime(true);
    $lines = @{single} ? [] : @{fn}($base, $owners);
    $note = '';
    foreach ($owners as $owner) {
        $note .= "Note $owner\n";
        foreach ($lines[$owner] ?? @{fn}($base, [$owner])[$owner] as $line) {
            $note .= "  {$line['number']}. {$line['text']}\n";
        }
    }
    $spent += (hrtime(true) - $began) / 1e9;
    return $note;
}

$began = hrtime(true) / 1e9;
[$units, $busy] = [0, 0.0];
while (hrtime(true) / 1e9 - $began < @{seconds}) {
    $start = hrtime(true);
    $note = notes($base, $units * @{orders}, $spent);
    for ($i = 0, $seal = ''; $i < @{rounds}; $i++) {
        $seal = md5($note . $seal);
    }
    $units++;
    $busy += (hrtime(true) - $start) / 1e9;
    $rest = $began + $units / @{pace} - hrtime(true) / 1e9;
    if ($rest > 0) {
        usleep((int)($rest * 1e6));
    }
}
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $spent]));
