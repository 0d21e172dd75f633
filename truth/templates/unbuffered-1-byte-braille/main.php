<?php
// Translates the week's texts to Braille, for the embosser in the basement.
const SHORT = ['the' => '!', 'and' => '&', 'for' => '=', 'with' => ')', 'knowledge' => 'k', 'people' => 'p', 'like' => 'l', 'but' => 'b', 'very' => 'v',
    'just' => 'j', 'every' => 'e', 'rather' => 'r', 'more' => 'm', 'not' => 'n', 'child' => '*', 'this' => '?'];
$words = explode(' ', 'the reader and a friend go to knowledge for people with like but very just every rather so that us more not have this child still it as you will');

function text(array $words, int $number): string
{
    mt_srand($number);
    $text = '';
    while (strlen($text) < @{letters}) {
        $text .= $words[mt_rand(0, count($words) - 1)] . (mt_rand(0, 15) == 3 ? '. ' : ' ');
    }
    return rtrim($text);
}

class Embosser
{
    private $file;
    private string $held = '';

    public function __construct(string $path, private int $buffer)
    {
        $this->file = fopen($path, 'wb');
    }

    /** The cells of a text, in lines as the paper takes them. */
    public function translate(string $text): string
    {
        $cells = array_map(fn($word) => str_ends_with($word, '.') ? (SHORT[rtrim($word, '.')] ?? rtrim($word, '.')) . '4' : SHORT[$word] ?? $word, explode(' ', $text));
        return wordwrap(implode(' ', $cells), @{cells}, "\n") . "\f";
    }

    public function @{fnCamel}(string $cells): void
    {
        $size = strlen($cells);
        for ($i = 0; $i < $size; $i++) {
            $this->put($cells[$i]);
        }
        if ($this->held !== '') {
            fwrite($this->file, $this->held);
            $this->held = '';
        }
    }

    private function put(string $cell): void
    {
        if (!$this->buffer) {
            fwrite($this->file, $cell);
            return;
        }
        $this->held .= $cell;
        if (strlen($this->held) >= $this->buffer) {
            fwrite($this->file, $this->held);
            $this->held = '';
        }
    }
}

$embosser = new Embosser('@{work}/@{spool}', @{buffer});
$bell = fopen('@{work}/bell', 'wb');
$began = hrtime(true);
$units = $busy = $culprit = 0;
while (hrtime(true) - $began < @{seconds} * 1e9) {
    $text = text($words, $units);
    $start = hrtime(true);
    $cells = $embosser->translate($text);
    $translated = hrtime(true);
    $embosser->@{fnCamel}($cells);
    $culprit += hrtime(true) - $translated;
    for ($i = 0; $i < @{bells}; $i++) {
        fwrite($bell, "\x07");
    }
    $busy += hrtime(true) - $start;
    $units++;
    $rest = $began + $units * 1e9 / @{rate} - hrtime(true);
    if ($rest > 0) {
        usleep((int)($rest / 1000));
    }
}
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy / 1e9, 'culprit' => $culprit / 1e9]));
