<?php
// Traces stolen heirlooms: compares the marks of an inquiry with those of all in the register.
declare(strict_types=1);

const LEAF = @{leaf_kb} << 10;

final class Register
{
    public float $took = 0.0;
    /** @var int[] */
    private array $marks = [];

    public function __construct(private string $path)
    {
    }

    /** The marks of all leaves; what is behind them on a leaf is a small picture. */
    public function @{fn}(): array
    {
        if (@{keep} === 1 && $this->marks !== []) {
            return $this->marks;
        }
        $start = microtime(true);
        $this->marks = [];
        $file = fopen($this->path, 'rb');
        stream_set_read_buffer($file, 0);
        while (($part = fread($file, 1 << 20)) !== false && $part !== '') {
            for ($at = 0, $end = strlen($part); $at < $end; $at += LEAF) {
                $this->marks[] = ord($part[$at]) | ord($part[$at + 1]) << 8 | ord($part[$at + 2]) << 16;
            }
        }
        fclose($file);
        $this->took += microtime(true) - $start;
        return $this->marks;
    }

    /** The first leaf whose marks agree with the wanted ones, at the places of the mask. */
    public function nearest(int $wanted, int $mask): ?int
    {
        foreach ($this->@{fn}() as $number => $known) {
            if ((($known ^ $wanted) & $mask) === 0) {
                return $number;
            }
        }
        return null;
    }
}

/** The marks of a picture, which stands for the photograph that came with the inquiry. */
function marks(int $inquiry): int
{
    $state = $inquiry * 7919 + 1;
    $sums = array_fill(0, 24, 0);
    for ($i = 0; $i < @{detail}; $i++) {
        $state = ($state * 1103515245 + 12345) & 0x7fffffff;
        $sums[$i % 24] += $state >> 16;
    }
    $mean = intdiv(array_sum($sums), 24);
    $marks = 0;
    foreach ($sums as $bit => $sum) {
        $marks |= $sum > $mean ? 1 << $bit : 0;
    }
    return $marks;
}

$register = new Register('@{work}/@{register}');
if (@{keep} === 1) {
    $register->@{fn}();
    $register->took = 0.0;
}
$began = microtime(true);
$busy = 0.0;
$inquiries = $hits = 0;
while (microtime(true) - $began < @{seconds}) {
    $start = microtime(true);
    if ($register->nearest(marks($inquiries), 0x3ff) !== null) {
        $hits++;
    }
    $inquiries++;
    $busy += microtime(true) - $start;
    $rest = $inquiries / @{per_s} - (microtime(true) - $began);
    if ($rest > 0) {
        usleep((int) ($rest * 1e6));
    }
}
file_put_contents('@{report}', json_encode(['units' => $inquiries, 'seconds' => $busy, 'culprit' => $register->took, 'hits' => $hits]));
