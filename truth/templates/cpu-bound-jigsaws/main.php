<?php
// Sorts the pieces of jigsaw puzzles: a camera sees a tray of them, and the sorter says which edges fit together.

const EDGES = (@{tray} >> 1) * 4;
const SAMPLES = @{samples};

class Tray
{
    private array $outlines = [];
    private array $widths = [];
    private array $ofWidth = [];

    /** What the camera sees: each edge's outline, and elsewhere on the tray the one that fits. */
    public function look(int $number): void
    {
        $this->ofWidth = [];
        for ($edge = 0; $edge < EDGES; $edge++) {
            $pair = $edge >> 1;
            $side = $edge % 2 ? -1 : 1;
            $outline = [];
            for ($i = 0; $i < SAMPLES; $i++) {
                $outline[] = $side * (int) (100 * sin($pair * 1.7 + $i * (0.2 + ($pair % 13) * 0.05) + $number));
            }
            $this->outlines[$edge] = $outline;
            $width = ($pair * 37 + $number) % 4000;
            $this->widths[$edge] = $width;
            $this->ofWidth[$width][] = $edge;
        }
    }

    public function @{fn}(int $edge): int
    {
        $best = -1;
        $least = PHP_INT_MAX;
        $mine = $this->outlines[$edge];
        $width = $this->widths[$edge];
        $others = '@{way}' === 'widths' ? $this->ofWidth[$width] : range(0, EDGES - 1);
        foreach ($others as $other) {
            if ($other === $edge) {
                continue;
            }
            $gap = abs($width - $this->widths[$other]) * SAMPLES;
            foreach ($this->outlines[$other] as $i => $height) {
                $sum = $mine[$i] + $height;
                $gap += $sum < 0 ? -$sum : $sum;
            }
            if ($gap < $least) {
                $least = $gap;
                $best = $other;
            }
        }
        return $best;
    }
}

$now = fn () => hrtime(true) / 1e9;
$tray = new Tray();
$units = $joined = 0;
$busy = $spent = 0.0;
$began = $now();
while ($now() - $began < @{seconds}) {
    $start = $now();
    $tray->look($units % 50);
    $seen = $now();
    for ($edge = 0; $edge < EDGES; $edge++) {
        $joined += $tray->@{fn}($edge) === ($edge ^ 1) ? 1 : 0;
    }
    $spent += $now() - $seen;
    $busy += $now() - $start;
    $units++;
    $rest = $began + $units / @{rate} - $now();
    if ($rest > 0) {
        usleep((int) ($rest * 1e6));
    }
}
fprintf(STDERR, "%d joined of %d pairs\n", $joined, $units * EDGES / 2);
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $spent]));
