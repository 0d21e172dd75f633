<?php
// Knows the points of all players: "table LEAGUE" is answered with the ten best, and "won LEAGUE PLAYER" changes points.
declare(strict_types=1);

final class League
{
    /** @var array<int, int> */
    private array $points = [];

    public function __construct(int $number)
    {
        for ($player = 0; $player < @{size}; $player++) {
            $this->points[$player] = ($player * 7919 + $number * 104729) % 9973;
        }
    }

    public function won(int $player): void
    {
        $this->points[$player % @{size}] += 3;
    }

    /** @return array<int, int> the place of each player */
    public function @{fn2}(): array
    {
        $places = [];
        if ('@{way}' === 'order') {
            $order = $this->points;
            arsort($order);
            return array_flip(array_keys($order));
        }
        foreach ($this->points as $player => $mine) {
            $place = 0;
            foreach ($this->points as $other => $theirs) {
                if ($theirs > $mine || ($theirs === $mine && $other < $player)) {
                    $place++;
                }
            }
            $places[$player] = $place;
        }
        return $places;
    }

    public function table(): string
    {
        $places = array_flip($this->@{fn2}());
        $rows = [];
        for ($place = 0; $place < min(10, count($places)); $place++) {
            $rows[] = $places[$place] . ':' . $this->points[$places[$place]];
        }
        return implode(' ', $rows);
    }
}

$leagues = [];
for ($number = 0; $number < @{leagues}; $number++) {
    $leagues[] = new League($number);
}
$door = stream_socket_server('tcp://127.0.0.1:@{ranking}') ?: exit(1);
$open = [$door];
while (true) {
    $ready = $open;
    $none = null;
    stream_select($ready, $none, $none, null);
    foreach ($ready as $stream) {
        if ($stream === $door) {
            $open[] = stream_socket_accept($door);
            continue;
        }
        $line = fgets($stream);
        if ($line === false) {
            unset($open[array_search($stream, $open, true)]);
            continue;
        }
        [$word, $number, $player] = explode(' ', trim($line)) + [2 => '0'];
        $league = $leagues[(int) $number % @{leagues}];
        if ($word === 'won') {
            $league->won((int) $player);
        }
        fwrite($stream, $league->table() . "\n");
    }
}
