<?php
// Keeps the seats of halls: for each request a plan of the hall with what is sold, from which free blocks are looked for.
declare(strict_types=1);

const BYTES = @{mb} << 20;
const ROW = 4096;

final class Planner
{
    /** @var string[] */
    private array $kept = [];
    public float $preparing = 0.0;

    public function __construct()
    {
        for ($i = 0; $i < @{pool} && !@{fresh}; $i++) {
            $this->kept[] = str_repeat("\0", BYTES);
        }
    }

    /** A plan on which nothing is sold. */
    private function @{fn}(): string
    {
        if ($this->kept) {
            return array_shift($this->kept);
        }
        return str_repeat("\0", BYTES);
    }

    private function sell(string &$plan, array $sales): void
    {
        foreach ($sales as [$row, $seat, $many]) {
            for ($i = 0; $i < $many; $i++) {
                $plan[$row * ROW + $seat + $i] = 'x';
            }
        }
    }

    private function wipe(string &$plan, array $sales): void
    {
        foreach ($sales as [$row, $seat, $many]) {
            for ($i = 0; $i < $many; $i++) {
                $plan[$row * ROW + $seat + $i] = "\0";
            }
        }
    }

    private function best(string $plan, array $sales, int $many): array
    {
        $found = [0, 0];
        for ($pass = 0; $pass < @{passes} * 8; $pass++) {
            foreach ($sales as [$row, $seat, $sold]) {
                $part = substr($plan, $row * ROW, ROW);
                $free = strpos($part, str_repeat("\0", $many + $pass), $seat + $sold);
                if ($free !== false && crc32($part) % 97 > $found[1]) {
                    $found = [$row, crc32($part) % 97];
                }
            }
        }
        return $found;
    }

    public function request(string $line): array
    {
        $ask = json_decode($line, true, 8, JSON_THROW_ON_ERROR);
        $began = hrtime(true);
        $plan = $this->@{fn}();
        $this->preparing += (hrtime(true) - $began) / 1e9;
        $this->sell($plan, $ask['sales']);
        $found = $this->best($plan, $ask['sales'], $ask['many']);
        if (@{fresh}) {
            $began = hrtime(true);
            unset($plan);
            $this->preparing += (hrtime(true) - $began) / 1e9;
        } else {
            $this->wipe($plan, $ask['sales']);
            $this->kept[] = $plan;
        }
        return ['hall' => $ask['hall'], 'row' => $found[0]];
    }
}

function request_line(int $number): string
{
    $sales = [];
    for ($i = 0; $i < @{texts}; $i++) {
        $place = ($number * 7919 + $i * 104729) % 1000003;
        $sales[] = [$place % intdiv(BYTES, ROW), $place % (ROW - 200), 2 + $place % 9];
    }
    return json_encode(['hall' => "hall $number", 'many' => 2 + $number % 6, 'sales' => $sales]);
}

ini_set('memory_limit', '1500M');
$planner = new Planner();
$units = 0;
$busy = 0.0;
$rows = 0;
$began = hrtime(true);
while ((hrtime(true) - $began) / 1e9 < @{seconds}) {
    $start = hrtime(true);
    $rows += $planner->request(request_line($units))['row'];
    $units++;
    $busy += (hrtime(true) - $start) / 1e9;
    $rest = $units / @{rate} - (hrtime(true) - $began) / 1e9;
    if ($rest > 0) {
        usleep((int) ($rest * 1e6));
    }
}
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $planner->preparing]));
