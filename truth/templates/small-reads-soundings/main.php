<?php
// Soundings of a survey ship: the depth below each beam, by the tide, into a grid.
declare(strict_types=1);

const HEAD = 12;
const GRID = 256;

final class Recording
{
    private $file;
    public float $reading = 0;

    public function __construct(string $path, private int $page)
    {
        $this->file = fopen($path, 'rb');
        // It is asked for whole pings: PHP's own buffer would copy once more.
        stream_set_read_buffer($this->file, $page);
        if ($page > 0) {
            stream_set_chunk_size($this->file, $page);
        }
    }

    public function @{fnCamel}(): ?array
    {
        $start = hrtime(true);
        $head = fread($this->file, HEAD);
        $ping = null;
        if ($head !== false && strlen($head) === HEAD) {
            $ping = unpack('Vat/Vtrack/Vbeams', $head);
            $ping['depths'] = fread($this->file, $ping['beams'] * 2);
        }
        $this->reading += (hrtime(true) - $start) / 1e9;
        return $ping;
    }

    public function strip(int $number, int $length): array
    {
        $pings = intdiv(fstat($this->file)['size'], $length);
        fseek($this->file, $number * 7919 % $pings * $length);
        $bytes = fread($this->file, $length);
        return unpack('Vat/Vtrack/Vbeams', $bytes) + ['depths' => substr($bytes, HEAD)];
    }

    public function close(): void
    {
        fclose($this->file);
    }
}

final class Chart
{
    private array $cells;
    public float $reading = 0;

    public function __construct()
    {
        $this->cells = array_fill(0, GRID * GRID, 0.0);
    }

    private function enter(array $ping): void
    {
        $tide = 120 * sin($ping['at'] / 1000 * 2 * M_PI / 44700);
        $row = intdiv($ping['track'], 30) % GRID * GRID;
        // The middle beam and the outer ones; those between are for the archive.
        for ($beam = 0; $beam < $ping['beams']; $beam += max(1, intdiv($ping['beams'], 2))) {
            $depth = ord($ping['depths'][$beam * 2]) + 256 * ord($ping['depths'][$beam * 2 + 1]);
            $cell = $row + (intdiv($ping['at'], 250) + $beam) % GRID;
            $this->cells[$cell] = $this->cells[$cell] * 0.9 + 0.1 * ($depth * cos(($beam - $ping['beams'] / 2) * 0.03) - $tide);
        }
    }

    public function survey(string $path, int $page, int $strips): int
    {
        $recording = new Recording($path, $page);
        $pings = 0;
        if ($strips > 0) {
            for (; $pings < $strips; $pings++) {
                $this->enter($recording->strip($pings, HEAD + @{beams} * 2));
            }
        } else {
            while (($ping = $recording->@{fnCamel}()) !== null) {
                $this->enter($ping);
                $pings++;
            }
        }
        $this->reading += $recording->reading;
        $recording->close();
        return $pings;
    }
}

$ship = stream_socket_client('tcp://127.0.0.1:@{port}');
$chart = new Chart();
$began = microtime(true);
[$units, $busy] = [0, 0.0];
while (microtime(true) - $began < @{seconds}) {
    fwrite($ship, "next\n");
    $name = fgets($ship);
    if ($name === false) {
        break;
    }
    $start = microtime(true);
    $pings = $chart->survey(trim($name), @{piece}, @{strips});
    $busy += microtime(true) - $start;
    $units++;
    printf("%s: %d pings\n", trim($name), $pings);
}
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $chart->reading]));
