<?php
// Watches the weights of the hives: tells which of them has lost a swarm, and which is ready for the harvest.

final class LogLine
{
    public static function @{fn}(string $line): ?array
    {
        if (!@{whole}) {
            if (substr_compare($line, 'scale', 36, 5) !== 0) {
                return null;
            }
            return ['device' => substr($line, 42, 4), 'hub' => substr($line, 24, 5), 'weight' => (float) substr($line, 55, 6)];
        }
        $words = preg_split('/\s+/', trim($line));
        if (count($words) < 5 || !preg_match('/^(\w+)\[(\d+)\]$/', $words[3], $who)) {
            return null;
        }
        $record = ['hub' => $words[1], 'level' => strtolower($words[2]), 'kind' => $who[1], 'device' => $who[2]];
        $record['at'] = DateTimeImmutable::createFromFormat('Y-m-d\TH:i:s.v', $words[0])->getTimestamp();
        foreach (array_slice($words, 4) as $field) {
            [$name, $value] = explode('=', $field, 2);
            if (strpos($value, ',') !== false) {
                $record[$name] = array_map('intval', explode(',', $value));
            } else {
                $record[$name] = is_numeric($value) ? (float) $value : $value;
            }
        }
        return $record['kind'] === 'scale' ? $record : null;
    }
}

final class Apiary
{
    public array $hives = [];
    public array $notes = [];

    public function weighed(array $record): void
    {
        $name = $record['device'];
        $hive = $this->hives[$name] ?? ['mean' => $record['weight'], 'drift' => 0.0, 'seen' => 0, 'best' => 0.0];
        $change = $record['weight'] - $hive['mean'];
        $hive['mean'] += $change / 16;
        $hive['drift'] += (abs($change) - $hive['drift']) / 32;
        $hive['best'] = max($hive['best'], $hive['mean']);
        $hive['seen']++;
        $this->hives[$name] = $hive;
        if ($hive['seen'] >= 40 && abs($change) >= 3 * $hive['drift'] + 2) {
            $this->notes[] = sprintf('%s at %s: %s by %.1f kg', $name, $record['hub'], $change < 0 ? 'lost' : 'gained', abs($change));
            if (count($this->notes) > 200) {
                $this->notes = array_slice($this->notes, 100);
            }
        }
    }

    public function forHarvest(): array
    {
        return array_keys(array_filter($this->hives, fn ($hive) => $hive['best'] > 44));
    }
}

date_default_timezone_set('UTC');
$in = fopen($argv[1], 'rb');
stream_set_read_buffer($in, 0);
stream_set_chunk_size($in, 65536);
$apiary = new Apiary();
[$units, $busy, $spent, $rest] = [0, 0.0, 0.0, ''];
$began = microtime(true);
while (microtime(true) - $began < @{seconds}) {
    $block = fread($in, 65536);
    $start = microtime(true);
    $lines = explode("\n", $rest . $block);
    $rest = array_pop($lines);
    $from = microtime(true);
    $records = [];
    foreach ($lines as $line) {
        $record = LogLine::@{fn}($line);
        if ($record !== null) {
            $records[] = $record;
        }
    }
    $spent += microtime(true) - $from;
    foreach ($records as $record) {
        $apiary->weighed($record);
    }
    $units += count($lines);
    $busy += microtime(true) - $start;
}
printf("%d hives, %d for the harvest; last: %s\n", count($apiary->hives), count($apiary->forHarvest()), end($apiary->notes) ?: 'nothing');
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $spent]));
