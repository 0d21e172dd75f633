<?php
// Writes letters from phrases of a catalogue, which translators may change at any time.
declare(strict_types=1);

const CATALOGUE = '@{work}/@{content}/lang/de/letters/@{catalogue}';

final class Phrases
{
    public float $looking = 0.0;
    private float $next = 0.0;
    private int $changed = 0;
    private array $texts = [];

    public function @{fn}(): void
    {
        $start = hrtime(true);
        clearstatcache(true, CATALOGUE);
        $changed = filemtime(CATALOGUE);
        if ($changed !== $this->changed) {
            $this->texts = json_decode(file_get_contents(CATALOGUE), true, 8, JSON_THROW_ON_ERROR);
            $this->changed = $changed;
        }
        $this->looking += (hrtime(true) - $start) / 1e9;
    }

    public function tick(): void
    {
        if (microtime(true) >= $this->next) {
            $this->@{fn}();
            $this->next = microtime(true) + @{tick};
        }
    }

    public function phrase(string $key): string
    {
        if ('@{look}' === 'phrase') {
            $this->@{fn}();
        }
        return $this->texts[$key];
    }
}

function letter(Phrases $phrases, int $number): string
{
    if ('@{look}' === 'letter') {
        $phrases->@{fn}();
    }
    $lines = [];
    for ($i = 0; $i < @{used}; $i++) {
        $lines[] = $phrases->phrase('phrase-' . (($number + $i) % @{phrases} + 1));
    }
    return str_replace('{name}', "customer $number", implode("\n", $lines));
}

$phrases = new Phrases();
$phrases->@{fn}();
$begin = microtime(true);
$units = 0;
$busy = 0.0;
$size = 0;
while (microtime(true) - $begin < @{seconds}) {
    if ('@{look}' === 'tick') {
        $phrases->tick();
    }
    $start = hrtime(true);
    $size += strlen(letter($phrases, $units));
    $units++;
    $busy += (hrtime(true) - $start) / 1e9;
    usleep((int) max(0, 1e6 * ($begin + $units / @{rate} - microtime(true))));
}
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $phrases->looking]));
