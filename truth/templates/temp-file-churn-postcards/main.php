<?php
// Makes menus' covers for restaurants: a picture is drawn, mirrored, and taken apart into its colours; the answer is what it costs.

class Covers
{
    public float $between = 0.0;
    public int $covers = 0;
    public int $cents = 0;
    private string $paper;

    public function __construct(private int $size, private int $colours)
    {
        $this->paper = str_repeat(implode('', array_map('chr', range(0, 255))), 64);
    }

    private function @{fnCamel}(string $picture): string
    {
        if (@{files} === 0 || $this->covers % max(1, @{files}) !== @{files} - 1) {
            return $picture;
        }
        $start = microtime(true);
        $path = tempnam('@{work}/@{steps}', '@{prefix}');
        file_put_contents($path, $picture);
        $picture = file_get_contents($path);
        unlink($path);
        $this->between += microtime(true) - $start;
        return $picture;
    }

    public function make(): void
    {
        $picture = $this->@{fnCamel}(str_repeat($this->paper, intdiv($this->size, strlen($this->paper)) + 1));
        $mirrored = $this->@{fnCamel}(strrev($picture));
        $part = intdiv(strlen($mirrored), $this->colours);
        for ($colour = 0; $colour < $this->colours; $colour++) {
            $ink = $this->@{fnCamel}(substr($mirrored, $colour * $part, $part));
            $this->cents += ord($ink[$this->covers % $part]);
        }
        $this->covers++;
    }
}

$covers = new Covers(@{kb} * 1024, @{colours});
$began = microtime(true);
$busy = 0.0;
while (microtime(true) - $began < @{seconds}) {
    $start = microtime(true);
    $covers->make();
    $took = microtime(true) - $start;
    $busy += $took;
    usleep((int)max(0, 1e6 / @{per_s} - $took * 1e6));
}
file_put_contents('@{report}', json_encode(['units' => $covers->covers, 'seconds' => $busy, 'culprit' => $covers->between]));
