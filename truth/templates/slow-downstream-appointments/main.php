<?php
// The reception of a clinic: proposes appointments to those who call.
declare(strict_types=1);

const PATIENTS = @{patients};

final class Planner
{
    private $line;

    public function __construct()
    {
        $this->line = stream_socket_client('tcp://127.0.0.1:@{planner}', $code, $text, 5, STREAM_CLIENT_CONNECT,
            stream_context_create(['socket' => ['tcp_nodelay' => true]]));
    }

    public function plan(int $day, int $treatment): array
    {
        fwrite($this->line, "plan $day $treatment\n");
        return explode(' ', trim(fgets($this->line)));
    }
}

final class Reception
{
    private array $habits = [];
    private int $answered = 0;

    public function __construct(private Planner $planner)
    {
        for ($patient = 0; $patient < PATIENTS; $patient++) {
            for ($quarter = 0; $quarter < 96; $quarter++) {
                $this->habits[$patient][$quarter] = abs(sin($patient * 0.37 + $quarter * 0.11));
            }
        }
    }

    /** How ill a time fits: as it did for some of like habits. */
    private function inconvenience(int $patient, int $quarter): float
    {
        $sum = 0.0;
        for ($other = 0; $other < PATIENTS; $other += 5) {
            $apart = $this->habits[$patient][$quarter] - $this->habits[$other][$quarter];
            $sum += exp(-$apart * $apart) * $this->habits[$other][($quarter + 1) % 96];
        }
        return $sum;
    }

    public function answer(string $line): string
    {
        $number = (int) substr($line, strrpos($line, ' ') + 1);
        $times = [];
        foreach ($this->planner->plan($number * 13 % 260, $number) as $word) {
            [$doctor, $quarter] = array_map('intval', explode('@', $word . '@'));
            $times[sprintf('%02d:%02d Dr. %d', intdiv($quarter, 4), $quarter % 4 * 15, $doctor)] = $this->inconvenience($number % PATIENTS, $quarter);
        }
        asort($times);
        $this->answered++;
        return 'proposals ' . implode(', ', array_slice(array_keys($times), 0, 3)) . "\n";
    }
}

$context = stream_context_create(['socket' => ['tcp_nodelay' => true, 'backlog' => 64]]);
$door = stream_socket_server('tcp://127.0.0.1:@{port}', $code, $text, STREAM_SERVER_BIND | STREAM_SERVER_LISTEN, $context);
$reception = new Reception(new Planner());
$callers = [];
while (true) {
    $ready = [$door, ...$callers];
    $none = null;
    if (!stream_select($ready, $none, $none, null)) {
        continue;
    }
    foreach ($ready as $one) {
        if ($one === $door) {
            $caller = stream_socket_accept($door);
            $callers[(int) $caller] = $caller;
        } elseif (($line = fgets($one)) === false) {
            unset($callers[(int) $one]);
            fclose($one);
        } else {
            fwrite($one, $reception->answer(trim($line)));
        }
    }
}
