<?php
// Lets cars into the garages of a city: one loop serves the lines of all barriers, and makes the sheets of what was taken.
declare(strict_types=1);

const GARAGES = 60;
const STEP = 1800;

final class Sheets
{
    private array $price = [];

    public function __construct(private string $folder)
    {
        for ($hour = 0; $hour < 168; $hour++) {
            $this->price[] = $hour % 24 < 7 || $hour % 24 >= 21 ? 40 : ($hour >= 120 ? 100 : 150);
        }
    }

    private function tickets(int $garage): Generator
    {
        $file = fopen("$this->folder/@{tickets}/garage-$garage.csv", 'r');
        while (($line = fgets($file)) !== false) {
            [$number, $from, $to, $kind] = explode(';', rtrim($line));
            yield ['number' => (int) $number, 'from' => (int) $from, 'to' => (int) $to, 'season' => $kind === 'season'];
        }
        fclose($file);
    }

    public function @{fn}(int $garage): void
    {
        $cents = $stays = 0;
        $byHour = array_fill(0, 24, 0);
        foreach ($this->tickets($garage) as $ticket) {
            if ($ticket['season']) {
                continue;
            }
            for ($at = $ticket['from']; $at <= $ticket['to']; $at += STEP) {
                $hour = intdiv($at, 3600);
                $price = $this->price[$hour % 168];
                $byHour[$hour % 24] += $price;
                $cents += $price;
            }
            $stays++;
        }
        $text = "$stays stays, $cents cents\n";
        foreach ($byHour as $hour => $sum) {
            $text .= "$hour: $sum\n";
        }
        file_put_contents("$this->folder/garage-$garage.sum", $text);
    }
}

final class Barriers
{
    private array $lines = [];
    private array $text = [];
    private array $level = [];
    private int $entered = 0;

    public function __construct(private $door)
    {
    }

    private function enter(int $number): string
    {
        $levels = &$this->level[$number % GARAGES];
        $levels ??= array_fill(1, 5, 0);
        $best = array_search(min($levels), $levels, true);
        $levels[$best]++;
        $code = "car $number";
        for ($i = 0; $i < 200; $i++) {
            $code = hash('xxh64', $code);
        }
        return sprintf("open level %d ticket %s %d\n", $best, $code, ++$this->entered);
    }

    public function hear(float $seconds): void
    {
        $ready = [$this->door, ...$this->lines];
        $none = null;
        if (!stream_select($ready, $none, $none, (int) $seconds, (int) (fmod($seconds, 1) * 1e6))) {
            return;
        }
        foreach ($ready as $line) {
            $id = (int) $line;
            if ($line === $this->door) {
                $car = stream_socket_accept($line, 0);
                if ($car) {
                    stream_set_blocking($car, false);
                    $this->lines[(int) $car] = $car;
                    $this->text[(int) $car] = '';
                }
                continue;
            }
            $piece = fread($line, 4096);
            if ($piece === '' || $piece === false) {
                fclose($line);
                unset($this->lines[$id], $this->text[$id]);
                continue;
            }
            $asked = explode("\n", $this->text[$id] . $piece);
            $this->text[$id] = array_pop($asked);
            foreach ($asked as $one) {
                @fwrite($line, $this->enter((int) substr($one, 6)));
            }
        }
    }
}

$options = stream_context_create(['socket' => ['tcp_nodelay' => true, 'backlog' => 64, 'so_reuseaddr' => true]]);
$barriers = new Barriers(stream_socket_server('tcp://127.0.0.1:@{port}', $code, $why, STREAM_SERVER_BIND | STREAM_SERVER_LISTEN, $options));
$sheets = new Sheets('@{work}');
$garage = 0;
$due = microtime(true) + @{every} / 1000;
while (true) {
    $barriers->hear(max(0.0, $due - microtime(true)));
    if (microtime(true) < $due) {
        continue;
    }
    if ('@{place}' === 'here') {
        $sheets->@{fn}($garage);
    } else {
        while (pcntl_waitpid(-1, $status, WNOHANG) > 0);
        if (pcntl_fork() === 0) {
            $sheets->@{fn}($garage);
            posix_kill(posix_getpid(), SIGKILL);
        }
    }
    $garage = ($garage + 1) % GARAGES;
    $due = microtime(true) + @{every} / 1000;
}
