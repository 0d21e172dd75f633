<?php
// Checks the museum's recordings against the list of its catalogue, one side after the other.

final class Listing
{
    public float $taking = 0.0;
    private array $sums = [];

    public function __construct(private string $folder)
    {
    }

    private function @{fnCamel}(int $side): string
    {
        $start = hrtime(true);
        $path = "{$this->folder}/@{side}-$side.pcm";
        $file = fopen($path, 'rb');
        // PHP's own buffer would be small.
        stream_set_read_buffer($file, 0);
        stream_set_chunk_size($file, @{take_kb} * 1024);
        $wanted = @{whole} ? fstat($file)['size'] : 800;
        $sound = '';
        while (strlen($sound) < $wanted && ($part = fread($file, min($wanted - strlen($sound), @{take_kb} * 1024))) !== '' && $part !== false) {
            $sound .= $part;
        }
        fclose($file);
        $this->taking += (hrtime(true) - $start) / 1e9;
        return $sound;
    }

    public function check(int $side): bool
    {
        $sum = crc32($this->@{fnCamel}($side));
        $same = ($this->sums[$side] ?? $sum) === $sum;
        $this->sums[$side] = $sum;
        return $same;
    }
}

$listing = new Listing('@{work}/@{mount}');
$began = hrtime(true);
$units = $bad = 0;
$busy = 0.0;
while (hrtime(true) - $began < @{seconds} * 1e9) {
    $start = hrtime(true);
    $bad += $listing->check($units * 7 % @{sides}) ? 0 : 1;
    $units++;
    $busy += (hrtime(true) - $start) / 1e9;
    $rest = $began / 1e3 + $units * 1e6 / @{per_s} - hrtime(true) / 1e3;
    if ($rest > 0) {
        usleep((int)$rest);
    }
}
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $listing->taking, 'bad' => $bad]));
