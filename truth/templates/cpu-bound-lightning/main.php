<?php
declare(strict_types=1);

final class Sweep
{
    /** @var float[] */
    public array $x = [];
    public array $y = [];
    public array $peak = [];
    public array $storm = [];

    public function __construct(public readonly int $count)
    {
        for ($i = 0; $i < $count; $i++) {
            $this->x[] = mt_rand() / mt_getrandmax();
            $this->y[] = mt_rand() / mt_getrandmax();
            $this->peak[] = mt_rand(5, 120);
            $this->storm[] = $i;
        }
    }

    public function of(int $i): int
    {
        while ($this->storm[$i] !== $i) {
            $i = $this->storm[$i] = $this->storm[$this->storm[$i]];
        }
        return $i;
    }
}

final class Grouping
{
    public function __construct(private readonly float $radius)
    {
    }

    public function @{fnCamel}(Sweep $sweep): void
    {
        $limit = $this->radius ** 2;
        for ($i = 0; $i < $sweep->count; $i++) {
            for ($j = 0; $j < $sweep->count; $j++) {
                $dx = $sweep->x[$i] - $sweep->x[$j];
                $dy = $sweep->y[$i] - $sweep->y[$j];
                if ($i !== $j && $dx * $dx + $dy * $dy < $limit) {
                    $sweep->storm[$sweep->of($j)] = $sweep->of($i);
                }
            }
        }
    }

    public function byCells(Sweep $sweep): void
    {
        $limit = $this->radius ** 2;
        $cells = [];
        for ($i = 0; $i < $sweep->count; $i++) {
            $x = (int) ($sweep->x[$i] / $this->radius);
            $y = (int) ($sweep->y[$i] / $this->radius);
            for ($cx = $x - 1; $cx <= $x + 1; $cx++) {
                for ($cy = $y - 1; $cy <= $y + 1; $cy++) {
                    foreach ($cells[$cx * 10000 + $cy] ?? [] as $j) {
                        if (($sweep->x[$i] - $sweep->x[$j]) ** 2 + ($sweep->y[$i] - $sweep->y[$j]) ** 2 < $limit) {
                            $sweep->storm[$sweep->of($j)] = $sweep->of($i);
                        }
                    }
                }
            }
            $cells[$x * 10000 + $y][] = $i;
        }
    }
}

/** The strongest storms. */
function bulletin(Sweep $sweep): string
{
    $power = [];
    for ($i = 0; $i < $sweep->count; $i++) {
        $storm = $sweep->of($i);
        $power[$storm] = ($power[$storm] ?? 0) + $sweep->peak[$i];
    }
    arsort($power);
    $text = '';
    foreach (array_slice($power, 0, 5, true) as $storm => $strength) {
        $text .= sprintf("storm %d: %d kA\n", $storm, $strength);
    }
    return $text;
}

mt_srand(@{seed});
$grouping = new Grouping(@{radius});
$clock = fn(): float => hrtime(true) / 1e9;
$began = $clock();
$units = $written = 0;
$busy = $culprit = 0.0;
while ($clock() - $began < @{seconds}) {
    $start = $clock();
    $sweep = new Sweep(@{used});
    $then = $clock();
    if (@{grid}) {
        $grouping->byCells($sweep);
    } else {
        $grouping->@{fnCamel}($sweep);
    }
    $culprit += $clock() - $then;
    $written += strlen(bulletin($sweep));
    $units++;
    $busy += $clock() - $start;
    usleep((int) max(0, ($began + $units / @{rate} - $clock()) * 1e6));
}
echo "$written bytes of bulletins\n";
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $culprit]));
