<?php
// The dispensing of the prescriptions of a nursing home, with the book that the law asks for.
declare(strict_types=1);

final class Book
{
    public float $waited = 0.0;
    private int $lines = 0;
    private $file;

    public function __construct(string $path)
    {
        $this->file = fopen($path, 'ab') ?: throw new RuntimeException("cannot open $path");
        stream_set_write_buffer($this->file, 0);
    }

    public function @{fnCamel}(array $item): void
    {
        fwrite($this->file, ++$this->lines . '|' . implode('|', $item) . "\n");
        if ($this->lines % @{sync} === 0) {
            $start = microtime(true);
            fdatasync($this->file);
            $this->waited += microtime(true) - $start;
        }
    }
}

final class Pharmacy
{
    private array $shelf;

    public function __construct()
    {
        $this->shelf = array_fill(0, @{stock}, 400);
    }

    private function interactions(int $patient, int $drug): int
    {
        $found = 0;
        for ($other = 0; $other < @{stock}; $other++) {
            if ((($drug * 31 ^ $other * 17 ^ $patient) & 0xfff) % 97 === 0 && $other !== $drug) {
                $found++;
            }
        }
        return $found;
    }

    public function pick(int $run, int $index): array
    {
        $patient = ($run * 37 + $index) % 4000;
        $drug = ($patient * 13 + $index * 7) % @{stock};
        $packs = $this->interactions($patient, $drug) > 20 ? 1 : 1 + $index % 3;
        $this->shelf[$drug] -= $packs;
        if ($this->shelf[$drug] < 0) {
            $this->shelf[$drug] += 500;
        }
        return ["P$patient", "D$drug", $packs, sprintf('LOT%05d', ($drug * 7919 + $run) % 100000)];
    }
}

$book = new Book("$argv[1]/@{book}");
$pharmacy = new Pharmacy();
$units = 0;
$busy = 0.0;
$began = microtime(true);
while (microtime(true) - $began < @{seconds}) {
    $start = microtime(true);
    for ($index = 0; $index < @{items}; $index++) {
        $book->@{fnCamel}($pharmacy->pick($units, $index));
    }
    $units++;
    $busy += microtime(true) - $start;
    $rest = $began + $units / @{rate} - microtime(true);
    if ($rest > 0) {
        usleep((int) ($rest * 1e6));
    }
}
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $book->waited]));
