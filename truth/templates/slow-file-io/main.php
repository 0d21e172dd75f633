<?php
// Picks tiles of a map out of its one large file, for each view that somebody looks at.

final class Tiles
{
    private $file;
    private int $count;
    public float $spent = 0.0;

    public function __construct(string $path)
    {
        $this->file = fopen($path, 'rb');
        stream_set_read_buffer($this->file, 0);
        stream_set_chunk_size($this->file, @{kb} * 1024);
        $this->count = min(@{spread}, intdiv(fstat($this->file)['size'], @{kb} * 1024));
    }

    public function @{fnCamel}(int $number): string
    {
        $start = microtime(true);
        fseek($this->file, ($number % $this->count) * @{kb} * 1024);
        $tile = fread($this->file, @{kb} * 1024);
        $this->spent += microtime(true) - $start;
        return $tile;
    }
}

$tiles = new Tiles('@{work}/@{disk}/@{data}');
mt_srand(11);
$began = $due = microtime(true);
$units = 0;
$busy = 0.0;
while (microtime(true) - $began < @{seconds}) {
    $start = microtime(true);
    $view = '';
    for ($i = 0; $i < @{reads}; $i++) {
        $view .= $tiles->@{fnCamel}(mt_rand());
    }
    for ($i = 0; $i < @{rounds}; $i++) {
        $mark = hash('sha256', $view);
    }
    $busy += microtime(true) - $start;
    $units++;
    $due = max($due + 1 / @{per_s}, microtime(true));
    usleep((int)(max(0.0, $due - microtime(true)) * 1e6));
}
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $tiles->spent]));
