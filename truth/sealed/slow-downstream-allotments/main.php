<?php
// The pump house of an allotment society: a process for each tap, which asks how long it may run.
declare(strict_types=1);

const THIRST = ['beans' => 1.1, 'leeks' => 0.9, 'kale' => 0.8, 'roses' => 0.7, 'berries' => 1.2, 'marrow' => 1.5];

function dial(int $port)
{
    $line = stream_socket_client("tcp://127.0.0.1:$port", $code, $why, 5, STREAM_CLIENT_CONNECT, stream_context_create(['socket' => ['tcp_nodelay' => true]]));
    if (!$line) {
        throw new RuntimeException("$port: $why");
    }
    stream_set_timeout($line, 30);
    return $line;
}

final class Ground
{
    private $line = null;
    private array $cells = [];

    public function __construct(private bool $keeps, private int $count)
    {
    }

    public function open(): void
    {
        for ($cell = 0; $this->keeps && $cell < $this->count; $cell++) {
            $this->@{fn}($cell);
        }
        $this->line = null;
    }

    /** Moisture and evaporation. */
    public function @{fn}(int $cell): array
    {
        if (isset($this->cells[$cell])) {
            return $this->cells[$cell];
        }
        $this->line ??= dial(@{soil});
        fwrite($this->line, "cell $cell\n");
        $said = fgets($this->line);
        if ($said === false) {
            throw new RuntimeException('the weather office says nothing');
        }
        $values = array_map('floatval', explode(' ', trim($said)));
        if ($this->keeps) {
            $this->cells[$cell] = $values;
        }
        return $values;
    }
}

final class PumpHouse
{
    private array $plots = [];

    public function __construct(string $path, private Ground $ground)
    {
        foreach (file($path, FILE_IGNORE_NEW_LINES) as $row) {
            [$number, $crop, $area, $cell] = explode(';', $row);
            $this->plots[] = ['number' => (int) $number, 'crop' => $crop, 'area' => (int) $area, 'cell' => (int) $cell];
        }
    }

    private function seconds(array $plot, float $moisture, float $evaporation): int
    {
        $wet = $moisture * 100;
        $thirst = $evaporation * THIRST[$plot['crop']];
        for ($step = 0; $step < 24 * @{detail} * 20; $step++) {
            $wet = max(5.0, $wet - $thirst * max(0.0, sin(($step % 480) * M_PI / 480)) / (@{detail} * 20 * 4));
        }
        return (int) round($plot['area'] * max(0.0, 62 - $wet) / 18);
    }

    public function serve($tap): void
    {
        while (($line = fgets($tap)) !== false) {
            $plot = $this->plots[(int) substr($line, 6) % count($this->plots)];
            [$moisture, $evaporation] = $this->ground->@{fn}($plot['cell']);
            $news = @file_get_contents('@{work}/frost') ?: 'no news';
            fwrite($tap, "plot {$plot['number']}: {$this->seconds($plot, $moisture, $evaporation)} s, $news\n");
        }
    }
}

function watch_frost(): never
{
    $line = dial(@{frost});
    while (true) {
        fwrite($line, "watch\n");
        $news = fgets($line);
        if ($news === false) {
            exit(1);
        }
        file_put_contents('@{work}/frost', trim($news));
    }
}

$ground = new Ground('@{moisture}' === 'kept', @{cells});
$house = new PumpHouse('@{work}/@{plots}', $ground);
$ground->open();
$door = stream_socket_server('tcp://127.0.0.1:@{port}', $code, $why, STREAM_SERVER_BIND | STREAM_SERVER_LISTEN, stream_context_create(['socket' => ['tcp_nodelay' => true, 'so_reuseaddr' => true, 'backlog' => 64]]));
if (pcntl_fork() === 0) {
    fclose($door);
    watch_frost();
}
pcntl_signal(SIGCHLD, SIG_IGN);
while (true) {
    $tap = @stream_socket_accept($door, 3600);
    if (!$tap) {
        continue;
    }
    if (pcntl_fork() === 0) {
        fclose($door);
        $house->serve($tap);
        exit(0);
    }
    fclose($tap);
}
