<?php
// Draws the flights of gliders upon a grid of the country, and says where they climbed.
declare(strict_types=1);
ini_set('memory_limit', '512M');

const BYTES = @{cells} * 2;
const KEEP = @{keep} === 1;

function now(): float
{
    return hrtime(true) / 1e9;
}

final class Chart
{
    private ?string $grid = null;
    private array $drawn = [];
    private int $side;

    public function __construct()
    {
        $this->side = (int) sqrt(BYTES);
    }

    public function @{fn}(): void
    {
        if (KEEP && $this->grid !== null) {
            foreach ($this->drawn as $cell) {
                $this->grid[$cell] = '.';
            }
            $this->drawn = [];
            return;
        }
        $this->grid = null;
        $this->drawn = [];
        $this->grid = str_repeat('.', BYTES);
    }

    public function draw(array $fixes): int
    {
        $met = 0;
        foreach ($fixes as [$east, $north, $level]) {
            $cell = (int) ($north * $this->side) * $this->side + (int) ($east * $this->side);
            for ($x = max(0, $cell - @{reach}); $x <= $cell + @{reach} && $x < BYTES; $x++) {
                if ($this->grid[$x] === '.') {
                    $this->drawn[] = $x;
                } else {
                    $met++;
                }
                $this->grid[$x] = $level;
            }
        }
        return $met;
    }
}

function flight(int $number): array
{
    [$east, $north, $course] = [0.2 + $number % 50 / 100, 0.2 + $number % 37 / 70, (float) $number];
    $fixes = [];
    for ($i = 0; $i < @{fixes}; $i++) {
        $course += sin($i * 0.05 + $number) * 0.4;
        $east += cos($course) * 0.0004;
        $north += sin($course) * 0.0004;
        $fixes[] = [min(0.99, max(0.0, $east)), min(0.99, max(0.0, $north)), chr(65 + $i % 26)];
    }
    return $fixes;
}

$chart = new Chart();
if (KEEP) {
    $chart->@{fn}();
}
[$units, $met, $busy, $culprit] = [0, 0, 0.0, 0.0];
$began = now();
while (now() - $began < @{seconds}) {
    $start = now();
    $fixes = flight($units);
    $from = now();
    $chart->@{fn}();
    $culprit += KEEP ? 0 : now() - $from;
    $met += $chart->draw($fixes);
    $units++;
    $busy += now() - $start;
    usleep((int) max(0, ($began + $units / @{rate} - now()) * 1e6));
}
echo $met, " cells met again\n";
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $culprit]));
