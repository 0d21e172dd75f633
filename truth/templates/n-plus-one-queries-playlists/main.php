<?php
// Makes the feeds of the radio's playlists.

class Base
{
    private $socket;

    public function __construct(string $address)
    {
        $this->socket = stream_socket_client("tcp://$address") or exit(1);
    }

    public function rows(string $query): array
    {
        fwrite($this->socket, $query . "\n");
        $line = rtrim(fgets($this->socket), "\n");
        return array_map(fn ($row) => explode(';', $row), explode("\t", $line));
    }
}

class Track
{
    private ?array $played_by = null;

    public function __construct(private Feed $feed, public string $title, public int $seconds, private int $by, ?string $name = null, ?string $town = null)
    {
        if ($name !== null) {
            $this->played_by = [$name, $town];
        }
    }

    public function __get($name)
    {
        if ($this->played_by === null) {
            $this->played_by = $this->feed->@{fn}($this->by);
        }
        return $this->played_by[$name === 'name' ? 0 : 1];
    }
}

class Feed
{
    public float $spent = 0;

    public function __construct(private Base $base)
    {
    }

    public function @{fn}(int $id): array
    {
        $start = hrtime(true);
        $row = $this->base->rows("select name, town from @{people} where id=$id")[0];
        $this->spent += (hrtime(true) - $start) / 1e9;
        return $row;
    }

    private function tracks(int $list): array
    {
        $sql = @{joined}
            ? "select title, seconds, by_id, name, town from lists l join tracks t on t.id = l.track join @{people} p on p.id = t.by_id where l.id=$list order by place"
            : "select title, seconds, by_id from lists l join tracks t on t.id = l.track where l.id=$list order by place";
        return array_map(fn ($row) => new Track($this, ...$row), $this->base->rows($sql));
    }

    public function make(int $list): string
    {
        $items = [];
        foreach ($this->tracks($list) as $track) {
            $items[] = ['title' => $track->title, 'length' => gmdate('i:s', $track->seconds), 'by' => $track->name, 'from' => $track->town];
        }
        return json_encode(['list' => $list, 'items' => $items]);
    }
}

$feed = new Feed(new Base('127.0.0.1:@{port}'));
[$units, $busy, $letters, $began] = [0, 0.0, 0, hrtime(true)];
while ((hrtime(true) - $began) / 1e9 < @{seconds}) {
    $start = hrtime(true);
    $letters += strlen($feed->make($units % 50));
    $units++;
    $busy += (hrtime(true) - $start) / 1e9;
    $rest = $units / @{rate} - (hrtime(true) - $began) / 1e9;
    if ($rest > 0) {
        usleep((int) ($rest * 1e6));
    }
}
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $feed->spent]));
