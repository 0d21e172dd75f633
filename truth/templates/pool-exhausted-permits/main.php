<?php
// Grants parking permits: which zone somebody lives in, and what it costs for the vehicle. A few processes share the door.
declare(strict_types=1);

final class Zone
{
    private array $corners = [];
    public readonly int $cents;

    public function __construct(int $number)
    {
        for ($c = 0; $c < @{corners}; $c++) {
            $angle = 2 * M_PI * $c / @{corners};
            $radius = 5.5 + sin($number * 3.7 + $c * 1.9);
            $this->corners[] = [$number % 20 * 10 + $radius * cos($angle), intdiv($number, 20) * 10 + $radius * sin($angle)];
        }
        $this->cents = 900 + $number * 131 % 2400;
    }

    public function contains(float $x, float $y): bool
    {
        $inside = false;
        [$bx, $by] = $this->corners[count($this->corners) - 1];
        foreach ($this->corners as [$cx, $cy]) {
            if (($cy > $y) != ($by > $y) && $x < ($bx - $cx) * ($y - $cy) / ($by - $cy) + $cx) {
                $inside = !$inside;
            }
            [$bx, $by] = [$cx, $cy];
        }
        return $inside;
    }
}

final class Office
{
    /** @var Zone[] */
    private array $zones;
    private $register;
    private int $granted = 0;

    public function __construct()
    {
        $this->zones = array_map(fn (int $number) => new Zone($number), range(0, @{zones} - 1));
    }

    public function open(): void
    {
        $context = stream_context_create(['socket' => ['tcp_nodelay' => true]]);
        $this->register = stream_socket_client('tcp://127.0.0.1:@{register}', $code, $text, 5, STREAM_CLIENT_CONNECT, $context);
    }

    private function @{fnCamel}(int $plate): array
    {
        fwrite($this->register, "plate $plate\n");
        return explode(' ', trim(fgets($this->register)));
    }

    private function cheapest(int $citizen): int
    {
        $cents = 3300;
        foreach ([0, 3, 6, 9] as $house) {
            foreach ($this->zones as $zone) {
                if ($zone->contains(($citizen * 17 + $house) % 200, $citizen * 29 % 100)) {
                    $cents = min($cents, $zone->cents);
                }
            }
        }
        return $cents;
    }

    public function permit(int $citizen): string
    {
        [$kind, $emissions, $owner] = $this->@{fnCamel}($citizen);
        $cents = $this->cheapest($citizen) + (int) $emissions * 4 + ($kind === 'lorry' ? 5000 : 0);
        $this->granted++;
        return sprintf("granted %d-%d %s %s %.2f\n", getmypid(), $this->granted, $kind, $owner, $cents / 100);
    }

    public function work($door): void
    {
        while (true) {
            $client = @stream_socket_accept($door, 3600);
            if ($client === false) {
                continue;
            }
            $line = fgets($client);
            if ($line !== false && sscanf($line, 'permit %d', $citizen) === 1) {
                fwrite($client, $this->permit($citizen));
            }
            fclose($client);
        }
    }
}

$context = stream_context_create(['socket' => ['backlog' => 128]]);
$door = stream_socket_server('tcp://127.0.0.1:@{port}', $code, $text, STREAM_SERVER_BIND | STREAM_SERVER_LISTEN, $context);
$office = new Office();
for ($worker = 0; $worker < @{workers}; $worker++) {
    if (pcntl_fork() === 0) {
        $office->open();
        $office->work($door);
    }
}
while (pcntl_wait($status) > 0) {
}
