<?php
// Orders of sundials: for each one its plate as a drawing, with the shadow at each hour.

final class Almanac
{
    public float $opening = 0;
    private $stream = null;
    private int $asked = 0;

    private function @{fnCamel}(): void
    {
        $start = hrtime(true);
        if ($this->stream) {
            fclose($this->stream);
        }
        $this->stream = stream_socket_client('tcp://127.0.0.1:@{port}', $code, $why, 10);
        if (!$this->stream) {
            throw new RuntimeException($why);
        }
        $hello = explode(' ', trim(fgets($this->stream)));
        fwrite($this->stream, "LOGIN @{user} " . strrev($hello[2]) . "\n");
        if (fgets($this->stream) !== "OK\n") {
            throw new RuntimeException('not let in');
        }
        $this->asked = 0;
        $this->opening += (hrtime(true) - $start) / 1e9;
    }

    public function sun(int $day, float $hour, float $latitude): array
    {
        if (!$this->stream || $this->asked >= @{keep}) {
            $this->@{fnCamel}();
        }
        $this->asked++;
        fwrite($this->stream, sprintf("SUN %d %.2f %.2f\n", $day, $hour, $latitude));
        return array_map('floatval', explode(' ', fgets($this->stream)));
    }
}

function plate(array $hours): string
{
    $svg = ['<svg xmlns="http://www.w3.org/2000/svg">'];
    foreach ($hours as $hour => [$height, $shadow]) {
        for ($step = 0; $step < @{engrave} * 8; $step++) {
            $reach = $step / (0.2 + abs($height));
            $svg[] = sprintf('<circle cx="%.2f" cy="%.2f" r="%d"/>', cos($shadow) * $reach, sin($shadow) * $reach, $hour + 1);
        }
    }
    return implode("\n", $svg) . '</svg>';
}

$almanac = new Almanac();
$units = 0;
$busy = 0.0;
$size = 0;
$began = microtime(true);
while (microtime(true) - $began < @{seconds}) {
    $start = microtime(true);
    $hours = [];
    for ($line = 0; $line < @{lines}; $line++) {
        $hours[] = $almanac->sun($units % 365, 8 + $line * 8 / @{lines}, 30 + $units * 37 % 300 / 10);
    }
    $size += strlen(plate($hours));
    $units++;
    $took = microtime(true) - $start;
    $busy += $took;
    usleep((int) max(0, 1e6 / @{per_s} - $took * 1e6));
}
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $almanac->opening, 'size' => $size]));
