<?php
// Keeps the gardens of an idle game: what has grown since the last beat is added up, and the gardens are saved.

final class Garden
{
    public array $beds = [];
    public int $coins = 20;

    public function __construct(public readonly int $number)
    {
        for ($i = 0; $i < @{things}; $i++) {
            $this->beds[] = ['plant' => ['bean', 'fig', 'kale', 'leek', 'pear', 'rose'][($number + $i) % 6], 'age' => $i, 'water' => 50];
        }
    }

    // Water goes from wet beds to dry ones, and plants grow by it.
    public function grow(int $beat): void
    {
        $count = count($this->beds);
        for ($step = 0; $step < @{effort} * 2; $step++) {
            for ($i = 0; $i < $count; $i++) {
                $next = ($i + 1) % $count;
                $flow = intdiv($this->beds[$i]['water'] - $this->beds[$next]['water'] + ($beat + $step) % 3, 4);
                $this->beds[$i]['water'] -= $flow;
                $this->beds[$next]['water'] += $flow;
            }
        }
        foreach ($this->beds as &$bed) {
            $bed['age']++;
            if ($bed['age'] % 40 === 0) {
                $this->coins += strlen($bed['plant']);
            }
        }
    }

    public function state(): array
    {
        return ['garden' => $this->number, 'coins' => $this->coins, 'beds' => $this->beds];
    }
}

final class Store
{
    public float $spent = 0.0;

    public function __construct(private readonly string $folder)
    {
    }

    public function @{fnCamel}(string $name, array $state): void
    {
        $start = hrtime(true);
        $path = "{$this->folder}/$name";
        $file = fopen("$path.new", 'wb');
        if ($file === false || fwrite($file, json_encode($state)) === false || !fsync($file)) {
            throw new RuntimeException("$path: not saved");
        }
        fclose($file);
        rename("$path.new", $path);
        $this->spent += (hrtime(true) - $start) / 1e9;
    }
}

function say($log, string $text): void
{
    fwrite($log, date('H:i:s') . " $text\n");
}

$log = fopen('@{work}/gardens.log', 'wb');
$store = new Store('@{work}/@{saves}');
$gardens = array_map(fn (int $number) => new Garden($number), range(1, @{players}));
$units = 0;
$busy = 0.0;
$finish = microtime(true) + @{seconds};
$due = $last = microtime(true);
while (microtime(true) < $finish) {
    $due = max($due + 1 / @{rate}, microtime(true));
    usleep((int) max(0, ($due - microtime(true)) * 1e6));
    $start = hrtime(true);
    foreach ($gardens as $garden) {
        $garden->grow($units);
        if ('@{save}' === 'each') {
            $store->@{fnCamel}("{$garden->number}@{ending}", $garden->state());
        }
    }
    if ('@{save}' === 'all') {
        $store->@{fnCamel}('gardens@{ending}', array_map(fn (Garden $garden) => $garden->state(), $gardens));
    } elseif ('@{save}' === 'left' && microtime(true) - $last > @{gap}) {
        $left = $gardens[$units % count($gardens)];
        $store->@{fnCamel}("{$left->number}@{ending}", $left->state());
        $last = microtime(true);
    }
    $busy += (hrtime(true) - $start) / 1e9;
    $units++;
    say($log, "beat $units, richest " . max(array_map(fn (Garden $garden) => $garden->coins, $gardens)));
}
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $store->spent]));
