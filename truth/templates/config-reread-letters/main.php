<?php
// Writes the letters of a library: what is due, what has come in, each in the reader's language.
const LANGUAGES = ['de', 'fr', 'pl'];

class Texts
{
    private array $kept = [];
    public float $spent = 0.0;

    private function @{fnCamel}(string $language): array
    {
        $texts = [];
        foreach (file("@{work}/@{deep}/$language.@{words}") as $line) {
            [$name, $text] = explode(' = ', trim($line), 2);
            $texts[$name] = trim($text, '"');
        }
        return $texts;
    }

    public function in(string $language): array
    {
        $start = hrtime(true);
        $known = $this->kept[$language] ?? null;
        if ($known === null || ($start - $known[0]) / 1e9 >= @{good_for}) {
            $known = [$start, $this->@{fnCamel}($language)];
            $this->kept[$language] = $known;
        }
        $this->spent += (hrtime(true) - $start) / 1e9;
        return $known[1];
    }
}

class Mailer
{
    private int $bytes = 0;

    public function __construct(private Texts $texts)
    {
    }

    public function letter(array $reader, array $loans): string
    {
        $texts = $this->texts->in($reader['language']);
        $lines = [$texts['text_1'] . ', ' . $reader['name']];
        foreach ($loans as $loan) {
            $late = max(0, 20 - $loan['days']);
            $lines[] = sprintf('%s: %s (%d, %.2f)', $texts['text_' . (2 + $loan['shelf'] % (count($texts) - 2))], $loan['title'], $loan['days'], $late * 0.2);
        }
        $letter = wordwrap(implode("\n", $lines), 72);
        $this->bytes += strlen($letter);
        return $letter;
    }
}

function readers(int $batch): array
{
    $found = [];
    for ($i = 0; $i < @{letters}; $i++) {
        $found[] = ['name' => "Reader " . ($batch + $i) % 5000, 'language' => LANGUAGES[($batch + $i) % 3]];
    }
    return $found;
}

$texts = new Texts();
$mailer = new Mailer($texts);
$units = 0;
$busy = 0.0;
$began = $due = hrtime(true) / 1e9;
while (hrtime(true) / 1e9 - $began < @{seconds}) {
    $start = hrtime(true) / 1e9;
    foreach (readers($units) as $place => $reader) {
        $loans = [];
        for ($i = 0; $i < 2 + $place % 3; $i++) {
            $loans[] = ['title' => "The book of numbers, volume $i", 'days' => ($place * 7 + $i) % 40, 'shelf' => $place + $i];
        }
        $mailer->letter($reader, $loans);
    }
    $units++;
    $now = hrtime(true) / 1e9;
    $busy += $now - $start;
    $due = max($due + 1 / @{rate}, $now);
    usleep((int) (($due - $now) * 1e6));
}
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $texts->spent]));
