<?php
function now(): float {
    return hrtime(true) / 1e9;
}

function wait_until(float $due): void {
    $rest = $due - now();
    if ($rest > 0) {
        usleep((int)($rest * 1e6));
    }
}

function report(int $units, float $busy, float $culprit): void {
    file_put_contents("@{report}", json_encode(["units" => $units, "seconds" => $busy, "culprit" => $culprit]));
}

class Traffic
{
    public float $parsing = 0;
    private ?array $slowest = null;

    public function __construct(private string $path) {}

    private function @{fn}(): array
    {
        $start = now();
        $slowest = [];
        foreach (new SplFileObject($this->path) as $line) {
            if (!preg_match('/^(\d+)-(\d+)-(\d+) (\d+):(\d+):(\d+) (\S+) (\w+) (\/\S+) (\d+) (\d+) ([\d.]+)/', $line, $part)) {
                continue;
            }
            [, , , , , , , $client, , , $status, , $took] = $part;
            $net = implode(".", array_slice(explode(".", $client), 0, 3));
            $slowest[$status][$net] = max($slowest[$status][$net] ?? 0.0, (float)$took);
        }
        $this->parsing += now() - $start;
        return $slowest;
    }

    public function slowest(string $status): array
    {
        if (@{index}) {
            $this->slowest ??= $this->@{fn}();
            return $this->slowest[$status] ?? [];
        }
        return $this->@{fn}()[$status] ?? [];
    }
}

$traffic = new Traffic("@{log}");
if (@{index}) {
    $traffic->slowest("200");
    $traffic->parsing = 0;
}
[$units, $busy, $began] = [0, 0.0, now()];
while (now() - $began < @{seconds}) {
    $start = now();
    $found = $traffic->slowest("@{status}");
    arsort($found);
    $units++;
    $busy += now() - $start;
    wait_until($began + $units / @{rate});
}
report($units, $busy, $traffic->parsing);
