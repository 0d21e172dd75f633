<?php
// The board of ski lifts: which run, what wind there is, how long one waits.
declare(strict_types=1);

const LIFTS = @{lifts};

final class Cabin
{
    public function __construct(public int $number, public int $seats, public float $hours)
    {
    }
}

final class Lift
{
    public string $name;
    public string $valley;
    public array $cabins = [];
    public array $winds = [];
    public int $queue = 0;
    public bool $runs = false;

    public function __construct(int $number)
    {
        $this->name = "Lift $number";
        $this->valley = 'Valley ' . $number % 37;
        for ($i = 0; $i < 6; $i++) {
            $this->cabins[] = new Cabin($i, 4 + $number % 5, $number * 11.5 + $i);
        }
    }

    public function hear(int $wind, int $queue, bool $runs): void
    {
        if (end($this->winds) !== $wind) {
            $this->winds[] = $wind;
            $this->winds = array_slice($this->winds, -12);
        }
        $this->queue = $queue;
        $this->runs = $runs && $wind < 80;
    }
}

final class Board
{
    /** @var Lift[] */
    public array $lifts = [];
    public array $news = [];
    private array $before = [];

    public function __construct()
    {
        for ($number = 0; $number < LIFTS; $number++) {
            $this->lifts[] = new Lift($number);
        }
    }

    public function @{fn}(int $number): bool
    {
        $all = '@{compare}' === 'all';
        $place = $all ? 'all' : $number;
        $text = serialize($all ? $this->lifts : $this->lifts[$number]);
        $changed = $text !== ($this->before[$place] ?? null);
        $this->before[$place] = $text;
        return $changed;
    }

    public function tell(Lift $lift): void
    {
        $seats = array_sum(array_column($lift->cabins, 'seats'));
        $wind = array_sum($lift->winds) / count($lift->winds);
        $this->news[] = sprintf('%s (%s): %s, %d min, wind %.1f', $lift->name, $lift->valley, $lift->runs ? 'runs' : 'closed', intdiv($lift->queue * 60, $seats), $wind);
        if (count($this->news) > 50) {
            array_shift($this->news);
        }
    }
}

$line = stream_socket_client('tcp://127.0.0.1:@{feed}', $code, $why, 5) ?: throw new RuntimeException($why);
$board = new Board();
$units = 0;
$busy = $comparing = 0.0;
$began = hrtime(true);
while (hrtime(true) - $began < @{seconds} * 1e9 && ($text = fgets($line)) !== false) {
    $start = hrtime(true);
    [$number, $wind, $queue, $runs] = array_map('intval', explode(' ', rtrim($text)));
    $board->lifts[$number]->hear($wind, $queue, $runs === 1);
    $asked = hrtime(true);
    $changed = $board->@{fn}($number);
    $comparing += (hrtime(true) - $asked) / 1e9;
    if ($changed) {
        $board->tell($board->lifts[$number]);
    }
    $units++;
    $busy += (hrtime(true) - $start) / 1e9;
}
file_put_contents('@{work}/board.txt', implode("\n", $board->news));
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $comparing]));
