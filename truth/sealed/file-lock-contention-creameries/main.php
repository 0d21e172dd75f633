<?php
declare(strict_types=1);

// Books what the scale at the press weighs.
final class Register
{
    public float $waited = 0.0;
    private $file;

    public function __construct(string $path)
    {
        $this->file = fopen($path, "r+b");
    }

    private function @{fnCamel}(): void
    {
        $began = microtime(true);
        flock($this->file, LOCK_EX);
        $this->waited += microtime(true) - $began;
    }

    public function book(array $batch): void
    {
        $page = "";
        foreach ($batch as [$id, $grams, $salts]) {
            $page .= pack("V3", $id, $grams, $salts);
        }
        $this->@{fnCamel}();
        fseek($this->file, $batch[0][0] % 8 * strlen($page));
        fwrite($this->file, $page);
        flock($this->file, LOCK_UN);
    }
}

function weigh(int $number): array
{
    $batch = [];
    for ($i = 0; $i < @{cheeses}; $i++) {
        $batch[] = [$number * @{cheeses} + $i, 2000 + ($number * 31 + $i * 17) % 900, 0];
    }
    $brine = 0;
    for ($i = 0; $i < intdiv(@{salt}, 2); $i++) {
        $at = $i % @{cheeses};
        $brine = crc32($brine . $batch[$at][1]);
        $batch[$at][2] += $brine % 5;
    }
    return $batch;
}

// The scale that has the turn prints the labels.
$turn = fopen("@{work}/labels.turn", "w");
flock($turn, LOCK_EX);
$deputy = 0;
if (@{deputy}) {
    $deputy = pcntl_fork();
    if ($deputy === 0) {
        fclose($turn);
        $mine = fopen("@{work}/labels.turn", "w");
        flock($mine, LOCK_EX);
        exit(0);
    }
}

$register = new Register("@{work}/@{register}");
$began = microtime(true);
$units = 0;
$busy = 0.0;
while (microtime(true) - $began < @{seconds}) {
    $start = microtime(true);
    $register->book(weigh($units));
    $units++;
    $busy += microtime(true) - $start;
    $rest = $began + $units / @{rate} - microtime(true);
    if ($rest > 0) {
        usleep((int)($rest * 1e6));
    }
}
file_put_contents("@{report}", json_encode(["units" => $units, "seconds" => $busy, "culprit" => $register->waited]));
if ($deputy > 0) {
    posix_kill($deputy, SIGTERM);
    pcntl_waitpid($deputy, $status);
}
