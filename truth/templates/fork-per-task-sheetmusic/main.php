<?php
// Takes scores into the library: who has the same one already, what shelf mark it gets, and the line of the catalogue.
const KEYS = ['C', 'G', 'D', 'A', 'E', 'B', 'F#', 'Db', 'Ab', 'Eb', 'Bb', 'F'];

function now(): float
{
    return hrtime(true) / 1e9;
}

final class Library
{
    private array $scores;
    private array $known = [];
    public float $started = 0.0;

    public function __construct(string $shelf)
    {
        $this->scores = glob("$shelf/*");
    }

    private function @{fn}(array $paths): array
    {
        if ('@{prints}' === 'here') {
            return array_map(fn ($path) => hash_file(str_replace('sum', '', '@{tool}'), $path), $paths);
        }
        $began = now();
        exec('@{tool} ' . implode(' ', array_map('escapeshellarg', $paths)), $lines, $status);
        if ($status !== 0) {
            throw new RuntimeException("@{tool} ended with $status");
        }
        $this->started += now() - $began;
        return array_map(fn ($line) => strtok($line, ' '), $lines);
    }

    private static function mark(string $print): string
    {
        $value = 0;
        foreach (str_split($print) as $digit) {
            $value = ($value * 16 + hexdec($digit)) % 99991;
        }
        return sprintf('%s-%05d', KEYS[$value % 12], $value);
    }

    public function take(int $number, int $many): void
    {
        $paths = [];
        for ($i = 0; $i < $many; $i++) {
            $paths[] = $this->scores[($number * $many + $i) % count($this->scores)];
        }
        foreach ($this->@{fn}($paths) as $i => $print) {
            $copies = ($this->known[$print]['copies'] ?? 0) + 1;
            $this->known[$print] = ['name' => basename($paths[$i]), 'mark' => self::mark($print), 'copies' => $copies];
        }
    }
}

$library = new Library('@{work}/@{shelf}');
[$began, $busy, $units] = [now(), 0.0, 0];
while (now() - $began < @{seconds}) {
    $start = now();
    $library->take($units++, @{parcel});
    $busy += now() - $start;
    usleep((int)max(0, ($began + $units / @{rate} - now()) * 1e6));
}
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $library->started]));
