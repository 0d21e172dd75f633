<?php
// Checks the tax number of each invoice with the registry.
final class Registry
{
    private $line;
    public float $spent = 0.0;

    public function __construct(string $address)
    {
        $this->line = stream_socket_client($address, $code, $text, 5);
        stream_set_timeout($this->line, 60);
    }

    public function @{fnCamel}(string $number): string
    {
        $began = hrtime(true);
        fwrite($this->line, "CHECK $number\n");
        $answer = fgets($this->line);
        $this->spent += (hrtime(true) - $began) / 1e9;
        if ($answer === false) {
            throw new RuntimeException('registry is gone');
        }
        return $answer;
    }
}

if (@{hold} === 1 && pcntl_fork() === 0) {
    $news = stream_socket_client('tcp://127.0.0.1:@{back}');
    $parent = posix_getppid();
    while (posix_getppid() === $parent && fwrite($news, "watch\n") && fgets($news) !== false) {
    }
    exit(0);
}

$registry = new Registry('tcp://127.0.0.1:@{back}');
$began = hrtime(true) / 1e9;
[$units, $busy] = [0, 0.0];
while (hrtime(true) / 1e9 - $began < @{seconds}) {
    $start = hrtime(true);
    $entry = json_decode($registry->@{fnCamel}('DE' . (100000000 + $units)), true);
    $sum = $entry['text'];
    for ($i = 0; $i < @{rounds}; $i++) {
        $sum = hash('sha256', $sum, true);
    }
    $invoices[$units % 100] = ['number' => $entry['id'], 'seal' => base64_encode($sum)];
    $units++;
    $busy += (hrtime(true) - $start) / 1e9;
    $rest = $began + $units / @{rate} - hrtime(true) / 1e9;
    if ($rest > 0) {
        usleep((int)($rest * 1e6));
    }
}
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $registry->spent]));
