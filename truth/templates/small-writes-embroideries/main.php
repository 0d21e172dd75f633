<?php
declare(strict_types=1);

// Turns monograms into what the embroidery machine reads.
final class Design
{
    public float $spent = 0.0;
    private $out;

    public function __construct(private string $path)
    {
        $this->out = fopen($path, "w");
    }

    public function begin(): void
    {
        // A memory card takes so much; then comes the next one.
        if (ftell($this->out) > 120 << 20) {
            fclose($this->out);
            rename($this->path, $this->path . ".full");
            $this->out = fopen($this->path, "w");
        }
    }

    public function @{fn}(array $stitches): void
    {
        $began = microtime(true);
        $held = "";
        foreach ($stitches as [$x, $y, $thread]) {
            $record = pack("Cll", $thread, (int)($x * 10), (int)($y * 10)) . str_repeat(" ", @{spare});
            if (@{at_once}) {
                fwrite($this->out, $record);
            } else {
                $held .= $record;
            }
        }
        if ($held !== "") {
            fwrite($this->out, $held);
        }
        $this->spent += microtime(true) - $began;
    }
}

function digitize(int $number): array
{
    $stitches = [];
    [$x, $y] = [0.0, 0.0];
    for ($i = 0; $i < @{stitches}; $i++) {
        $t = $i * 0.01 + $number;
        for ($k = 0; $k < 1 + intdiv(@{smooth}, 8); $k++) {
            $x = ($x + 400 * sin(3 * $t)) / 2;
            $y = ($y + 400 * cos(2 * $t)) / 2;
        }
        $stitches[] = [$x, $y, intdiv($i, 700) % 12];
    }
    return $stitches;
}

$design = new Design("@{work}/@{file}");
$shop = fopen("@{work}/shop.txt", "a");
$began = microtime(true);
$busy = 0.0;
$units = 0;
while (microtime(true) - $began < @{seconds}) {
    $start = microtime(true);
    $stitches = digitize($units);
    $design->begin();
    $design->@{fn}($stitches);
    if (@{note}) {
        fwrite($shop, "design $units has " . count($stitches) . " stitches\n");
    }
    $units++;
    $busy += microtime(true) - $start;
    $rest = $began + $units / @{rate} - microtime(true);
    if ($rest > 0) {
        usleep((int)($rest * 1e6));
    }
}
file_put_contents("@{report}", json_encode(["units" => $units, "seconds" => $busy, "culprit" => $design->spent]));
