<?php
// A freight desk: finds the carrier that takes a load for least, and packs the load for it.
declare(strict_types=1);

final class Carrier
{
    private $line;

    public function __construct(public readonly string $name, int $port)
    {
        $context = stream_context_create(['socket' => ['tcp_nodelay' => true]]);
        $this->line = stream_socket_client("tcp://127.0.0.1:$port", $code, $text, 5, STREAM_CLIENT_CONNECT, $context);
        if (!$this->line) {
            throw new RuntimeException("$name: $text");
        }
        stream_set_timeout($this->line, 8);
    }

    public function ask(int $kilos, int $from): void
    {
        fwrite($this->line, "FARE $kilos $from\n");
    }

    /** Cents and hour of arrival. */
    public function answer(): array
    {
        $words = explode(' ', trim((string) fgets($this->line)));
        if ($words[0] !== 'FARE') {
            throw new RuntimeException("{$this->name} does not answer");
        }
        return [(int) $words[1], (int) $words[2]];
    }

    public function fare(int $kilos, int $from): array
    {
        $this->ask($kilos, $from);
        return $this->answer();
    }
}

final class Desk
{
    private array $carriers;
    public float $asking = 0.0;

    public function __construct(private $journal)
    {
        $ports = ['road' => @{road}, 'rail' => @{rail}, 'barge' => @{barge}, 'air' => @{air}, 'courier' => @{courier}];
        foreach ($ports as $name => $port) {
            $this->carriers[$name] = new Carrier($name, $port);
        }
    }

    private function @{fnCamel}(int $kilos, int $from): array
    {
        if ('@{order}' === 'once') {
            foreach ($this->carriers as $carrier) {
                $carrier->ask($kilos, $from);
            }
            return array_map(fn (Carrier $carrier) => $carrier->answer(), $this->carriers);
        }
        $fares = [];
        foreach ($this->carriers as $name => $carrier) {
            $fares[$name] = $carrier->fare($kilos, $from);
            // A relay: who takes the load on has to know when it comes.
            if ('@{order}' === 'relay') {
                $from = $fares[$name][1];
            }
        }
        return $fares;
    }

    private static function room(array $boxes): int
    {
        $room = 0;
        foreach (array_chunk($boxes, 4) as $row) {
            $room += max($row) * 4 - array_sum($row);
        }
        return $room;
    }

    /** In which order the boxes go in so that least room is left: swaps those that do not fit with others near by. */
    private function packed(int $load): int
    {
        $boxes = array_map(fn (int $i) => ($load * 7919 + $i * 104729) % 97 + 3, range(1, @{legs}));
        $least = self::room($boxes);
        for ($apart = 1; $apart < 9; $apart++) {
            for ($i = $apart; $i < count($boxes); $i++) {
                [$boxes[$i - $apart], $boxes[$i]] = [$boxes[$i], $boxes[$i - $apart]];
                $now = self::room($boxes);
                if ($now < $least) {
                    $least = $now;
                } else {
                    [$boxes[$i - $apart], $boxes[$i]] = [$boxes[$i], $boxes[$i - $apart]];
                }
            }
        }
        return $least;
    }

    public function place(int $load): void
    {
        $kilos = 40 + $load * 37 % 900;
        $room = $this->packed($load);
        $asked = hrtime(true);
        $fares = $this->@{fnCamel}($kilos, $load % 24);
        $this->asking += (hrtime(true) - $asked) / 1e9;
        uasort($fares, fn (array $one, array $other) => $one[0] <=> $other[0]);
        $best = array_key_first($fares);
        fputcsv($this->journal, [$load, $kilos, $room, $best, ...$fares[$best]], ',', '"', '\\');
    }
}

$desk = new Desk(fopen('@{work}/loads.csv', 'w'));
$units = 0;
$busy = 0.0;
$began = hrtime(true);
while (($start = hrtime(true)) - $began < @{seconds} * 1e9) {
    $desk->place($units);
    $busy += (hrtime(true) - $start) / 1e9;
    $units++;
    $rest = $units / @{rate} - (hrtime(true) - $began) / 1e9;
    if ($rest > 0) {
        usleep((int) ($rest * 1e6));
    }
}
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $desk->asking]));
