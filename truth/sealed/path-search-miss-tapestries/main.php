<?php
// Weaves tapestries: each by a motif, whose pattern is found by its name.
final class Patterns
{
    public float $spent = 0.0;
    private array $kept = [];

    public function __construct(string $root, string $shared, string $order)
    {
        $folders = $order === "only" ? [] : glob("$root/*", GLOB_ONLYDIR);
        $folders[] = $shared;
        set_include_path(implode(PATH_SEPARATOR, $folders));
    }

    public function @{fn}(string $motif): array
    {
        $start = hrtime(true);
        $path = stream_resolve_include_path("$motif@{ending}");
        $this->spent += (hrtime(true) - $start) / 1e9;
        return json_decode(file_get_contents($path), true);
    }

    public function kept(int $number, int $most): array
    {
        return $this->kept[$number % $most] ??= $this->@{fn}("motif-" . $number % $most);
    }
}

final class Loom
{
    private string $cloth = "";

    public function weave(array $pattern, int $rows): int
    {
        $weft = str_repeat(implode("|", $pattern["colours"]) . "|", $pattern["threads"]);
        for ($row = 0; $row < $rows; $row++) {
            $weft = substr($weft, 1) . $weft[0];
            $this->cloth = hash("sha256", $this->cloth . strrev($weft));
        }
        return strlen($weft) * $rows;
    }
}

$patterns = new Patterns("@{work}/@{root}", "@{work}/@{shared}", "@{order}");
$loom = new Loom();
$units = $threads = 0;
$busy = 0.0;
$began = hrtime(true);
while ((hrtime(true) - $began) / 1e9 < @{seconds}) {
    $start = hrtime(true);
    $pattern = @{once} ? $patterns->kept($units, @{once}) : $patterns->@{fn}("motif-" . $units % (@{last} + 1));
    $threads += $loom->weave($pattern, @{rounds} * 20);
    $units++;
    $busy += (hrtime(true) - $start) / 1e9;
    $rest = $units / @{rate} - (hrtime(true) - $began) / 1e9;
    if ($rest > 0) {
        usleep((int) ($rest * 1e6));
    }
}
file_put_contents("@{report}", json_encode(["units" => $units, "seconds" => $busy, "culprit" => $patterns->spent, "threads" => $threads]));
