<?php
// A box office: the best seat that is left in a concert's hall, and a ticket for it that the door can check.
declare(strict_types=1);

final class Seals
{
    private array $keys = [];

    private function @{fnCamel}(string $phrase, string $salt): string
    {
        return hash_pbkdf2('sha256', $phrase, $salt, @{rounds}, 32, true);
    }

    private function key(array $concert): string
    {
        $known = $this->keys[$concert['name']] ?? null;
        if ($known === null || microtime(true) - $known[1] >= @{kept}) {
            $known = [$this->@{fnCamel}($concert['phrase'], $concert['name']), microtime(true)];
            $this->keys[$concert['name']] = $known;
        }
        return $known[0];
    }

    public function seal(array $concert, string $text): string
    {
        $mark = hash_hmac('sha256', $text, $this->key($concert), true);
        return rtrim(strtr(base64_encode($text . substr($mark, 0, 16)), '+/', '-_'), '=');
    }
}

final class Hall
{
    private array $taken = [];

    public function __construct(private int $rows, private int $seats)
    {
    }

    /** The free seat with the best view: near the middle, not too near the front. */
    public function best(int $wish): array
    {
        [$row, $seat, $most] = [0, 0, -INF];
        for ($r = 0; $r < $this->rows; $r++) {
            for ($s = 0; $s < $this->seats; $s++) {
                $worth = -abs($r - $this->rows * 0.35) - abs($s - $this->seats / 2) * 0.4 - sin($wish + $r * $s) * 2 - ($this->taken["$r/$s"] ?? 0) * 50;
                if ($worth > $most) {
                    [$row, $seat, $most] = [$r, $s, $worth];
                }
            }
        }
        $this->taken["$row/$seat"] = 1;
        if (count($this->taken) > $this->rows * $this->seats * 0.9) {
            $this->taken = [];
        }
        return [$row + 1, $seat + 1];
    }
}

function season(string $path): array
{
    $concerts = [];
    foreach (file($path, FILE_IGNORE_NEW_LINES) as $line) {
        [$name, $phrase, $cents] = explode(';', $line);
        $concerts[] = ['name' => $name, 'phrase' => $phrase, 'cents' => 2500 + (int) $cents, 'hall' => new Hall(@{rows}, 24)];
    }
    return $concerts;
}

function serve($fan, array $concerts): void
{
    $seals = new Seals();
    while (($line = fgets($fan)) !== false) {
        $number = (int) substr($line, 7);
        $concert = $concerts[$number % count($concerts)];
        [$row, $seat] = $concert['hall']->best($number);
        $text = sprintf('%s|%d|%d|%d|%d', $concert['name'], $number, $row, $seat, $concert['cents']);
        fwrite($fan, $seals->seal($concert, $text) . "\n");
    }
}

$concerts = season('@{season}');
$context = stream_context_create(['socket' => ['tcp_nodelay' => true, 'backlog' => 64]]);
$door = stream_socket_server('tcp://127.0.0.1:@{port}', $code, $text, STREAM_SERVER_BIND | STREAM_SERVER_LISTEN, $context);
$windows = [];
for ($window = 0; $window < 5; $window++) {
    $child = pcntl_fork();
    if ($child === 0) {
        while (true) {
            $fan = @stream_socket_accept($door, 3600);
            if ($fan !== false) {
                serve($fan, $concerts);
                fclose($fan);
            }
        }
    }
    $windows[] = $child;
}
foreach ($windows as $child) {
    pcntl_waitpid($child, $status);
}
