<?php
// Prints rolls of tickets for a tombola: codes that nobody can guess, with a check letter.
declare(strict_types=1);

const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';

final class Roll
{
    private string $pool = '';
    private int $at = 0;
    public float $spent = 0.0;

    /** One of the letters, each as likely. */
    private function @{fnCamel}(): int
    {
        if (@{pool} === 0) {
            return random_int(0, 31);
        }
        if ($this->at === strlen($this->pool)) {
            $this->pool = random_bytes(max(1, @{pool}));
            $this->at = 0;
        }
        return ord($this->pool[$this->at++]) & 31;
    }

    public function codes(int $count): array
    {
        $start = hrtime(true);
        $codes = [];
        for ($n = 0; $n < $count; $n++) {
            $code = '';
            $sum = 0;
            for ($i = 0; $i < @{letters}; $i++) {
                $letter = $this->@{fnCamel}();
                $code .= ALPHABET[$letter];
                $sum += $letter;
            }
            $codes[] = $code . ALPHABET[$sum & 31];
        }
        $this->spent += (hrtime(true) - $start) / 1e9;
        return $codes;
    }
}

function printed(array $codes, int $roll): int
{
    $sheet = '';
    foreach ($codes as $n => $code) {
        $sheet .= "$roll/$n\t$code\n";
    }
    return crc32($sheet);
}

$roll = new Roll();
$units = 0;
$busy = 0.0;
$seal = 0;
$began = hrtime(true);
while ((hrtime(true) - $began) / 1e9 < @{seconds}) {
    $start = hrtime(true);
    $seal ^= printed($roll->codes(@{used}), $units);
    $units++;
    $busy += (hrtime(true) - $start) / 1e9;
    $rest = $units / @{rate} - (hrtime(true) - $began) / 1e9;
    if ($rest > 0) {
        usleep((int) ($rest * 1e6));
    }
}
echo "seal of all rolls: $seal\n";
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => @{pool} ? 0 : $roll->spent]));
