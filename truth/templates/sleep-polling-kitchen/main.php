<?php
// The kitchen's side of a restaurant's orders: which stove does what, and a ticket for each table.
declare(strict_types=1);

final class Orders
{
    private $rows;
    private $bell;
    private string $rest = '';

    public function __construct(string $table)
    {
        $this->rows = fopen($table, 'r');
        $this->bell = fopen('bell', 'r+');
        stream_set_blocking($this->bell, false);
    }

    private function fresh(): array
    {
        fseek($this->rows, 0, SEEK_CUR);
        $this->rest .= stream_get_contents($this->rows);
        $lines = explode("\n", $this->rest);
        $this->rest = array_pop($lines);
        return $lines;
    }

    /** The rows that the tills have appended; waits for the first. */
    public function @{fnCamel}(callable $idle): array
    {
        while (true) {
            $rows = $this->fresh();
            if ($rows) {
                return $rows;
            }
            if (@{rings}) {
                $read = [$this->bell];
                $write = $except = null;
                if (stream_select($read, $write, $except, intdiv(@{tick}, 1000), @{tick} % 1000 * 1000)) {
                    fread($this->bell, 64);
                } else {
                    $idle();
                }
            } else {
                usleep(@{tick} * 1000);
            }
        }
    }
}

final class Kitchen
{
    private array $freeAt;
    private float $clock = 0;
    private int $done = 0;
    private $printer;

    public function __construct(private int $stoves)
    {
        $this->freeAt = array_fill(1, $stoves, 0.0);
        $this->printer = fopen('tickets', 'r+');
    }

    public function state(): void
    {
        file_put_contents('kitchen.state', sprintf("orders %d\nlatest stove %d\n", $this->done, max($this->freeAt)));
    }

    /** The stove that is free first and not too far from the pass. */
    private function stoveFor(int $dish): int
    {
        $best = 1;
        $cost = INF;
        foreach ($this->freeAt as $number => $free) {
            $wait = max(0, $free - $this->clock) + abs($number - $dish % $this->stoves) * 0.4;
            if ($wait < $cost) {
                [$best, $cost] = [$number, $wait];
            }
        }
        return $best;
    }

    public function cook(string $row): void
    {
        [$number, $table, $list] = explode(';', $row);
        $dishes = array_map('intval', explode(',', $list));
        usort($dishes, fn (int $one, int $other) => $other % 7 <=> $one % 7);
        $plan = [];
        for ($round = 1; $round <= 30; $round++) {
            foreach ($dishes as $dish) {
                $stove = $this->stoveFor($dish + $round);
                $this->freeAt[$stove] = max($this->clock, $this->freeAt[$stove]) + 2 + $dish % 9;
                $plan[] = "$dish@$stove";
            }
        }
        $this->clock += 1.5;
        $this->done++;
        fwrite($this->printer, "$number table $table: " . implode(' ', array_slice($plan, 0, 9)) . "\n");
    }
}

$orders = new Orders('@{table}');
$kitchen = new Kitchen(@{stoves});
$kitchen->state();
while (true) {
    foreach ($orders->@{fnCamel}([$kitchen, 'state']) as $row) {
        $kitchen->cook($row);
    }
}
