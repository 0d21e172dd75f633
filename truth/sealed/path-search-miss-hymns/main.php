<?php
// Prints the sheets of a parish's services: number, title and verses of each hymn that is sung.

class Book
{
    public float $looking = 0.0;
    private array $editions;
    private array $found = [];

    public function __construct(string $folder, int $count)
    {
        $this->editions = array_map(fn ($n) => sprintf('%s/edition-%03d', $folder, $n), range(1, $count));
    }

    public function @{fnCamel}(int $hymn): ?string
    {
        if (isset($this->found[$hymn])) {
            return $this->found[$hymn];
        }
        $start = microtime(true);
        $place = null;
        foreach ($this->editions as $edition) {
            if (file_exists("$edition/hymn-$hymn@{ending}")) {
                $place = "$edition/hymn-$hymn@{ending}";
                break;
            }
        }
        $this->looking += microtime(true) - $start;
        if (@{known}) {
            $this->found[$hymn] = $place;
        }
        return $place;
    }
}

$book = new Book('@{work}/@{name}', @{editions});
$sheets = $letters = 0;
$busy = 0.0;
$began = microtime(true);
while (microtime(true) - $began < @{seconds}) {
    $start = microtime(true);
    $sheet = [];
    for ($i = 0; $i < @{hymns}; $i++) {
        $hymn = ($sheets * 7 + $i * 11) % 150 + 1;
        $place = $book->@{fnCamel}($hymn);
        $sheet[] = sprintf('%3d  %s, verses 1-%d', $hymn, basename($place ?? 'unknown'), $i % 5 + 1);
    }
    $letters += strlen(implode("\n", $sheet));
    $sheets++;
    $took = microtime(true) - $start;
    $busy += $took;
    usleep((int)max(0, 1e6 / @{per_s} - $took * 1e6));
}
file_put_contents('@{report}', json_encode(['units' => $sheets, 'seconds' => $busy, 'culprit' => $book->looking]));
