<?php
// The gate of a thermal bath: opens to who has a season card with a passage left on it.
declare(strict_types=1);

final class Roll
{
    private array $lines = [];
    private string $rest = '';
    private $file;

    public function __construct(private string $path, private string $way)
    {
        $this->file = fopen($path, 'rb');
        if ($way === 'onward') {
            $this->@{fn2}();
        }
    }

    /** The last line of a card: those before it are out of date. */
    public function line(int $card): ?string
    {
        if ($this->way === 'through') {
            return $this->@{fn}(sprintf("\n%08d;", $card));
        }
        $this->@{fn2}();
        return $this->lines[$card] ?? null;
    }

    private function @{fn}(string $wanted): ?string
    {
        $line = null;
        $rest = "\n";
        $roll = fopen($this->path, 'rb');
        while (($piece = fread($roll, 262144)) !== false && $piece !== '') {
            $text = $rest . $piece;
            $end = strrpos($text, "\n");
            for ($at = 0; ($at = strpos($text, $wanted, $at)) !== false && $at < $end; $at++) {
                $line = substr($text, $at + 1, strpos($text, "\n", $at + 1) - $at - 1);
            }
            $rest = substr($text, $end);
        }
        fclose($roll);
        return $line;
    }

    private function @{fn2}(): void
    {
        while (($piece = fread($this->file, 262144)) !== false && $piece !== '') {
            $lines = explode("\n", $this->rest . $piece);
            $this->rest = array_pop($lines);
            foreach ($lines as $line) {
                $this->lines[(int) substr($line, 0, 8)] = $line;
            }
        }
    }
}

final class Gate
{
    private array $prices = [];
    public int $takings = 0;
    public int $refused = 0;

    public function __construct(string $tariff)
    {
        foreach (file($tariff, FILE_IGNORE_NEW_LINES) as $row) {
            [$kind, $cents] = explode(' ', $row);
            $this->prices[$kind] = (int) $cents;
        }
    }

    public function show(?string $line): string
    {
        [, $kind, $left, $portrait] = explode(';', $line ?? ';;0;');
        if ((int) $left < 1) {
            $this->refused++;
            return 'stays shut';
        }
        $this->takings += intdiv($this->prices[$kind], 10);
        for ($face = $portrait, $i = 0; $i < 60; $i++) {
            $face = hash('crc32b', $face . $portrait);
        }
        return "open $face, " . ($left - 1) . ' left';
    }
}

function seconds(): float
{
    return hrtime(true) / 1e9;
}

$roll = new Roll('@{work}/@{roll}', '@{way}');
$gate = new Gate('@{work}/tariff.conf');
mt_srand(11);
$units = 0;
$busy = $culprit = 0.0;
$said = '';
$began = seconds();
while (seconds() - $began < @{seconds}) {
    $start = seconds();
    $line = $roll->line(mt_rand(0, @{cards} - 1));
    $culprit += seconds() - $start;
    $said = $gate->show($line);
    $units++;
    $busy += seconds() - $start;
    $rest = $began + $units / @{rate} - seconds();
    if ($rest > 0) {
        usleep((int) ($rest * 1e6));
    }
}
echo "$units passages, $gate->refused refused, $gate->takings cents; $said\n";
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $culprit]));
