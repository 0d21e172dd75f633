<?php
// Writes the best quote of each hundred to a summary.
class Subscription
{
    public float $idle = 0.0;
    private $stream;

    public function __construct(string $address)
    {
        $this->stream = stream_socket_client($address);
        stream_set_blocking($this->stream, false);
    }

    public function @{fn}(): string
    {
        $start = hrtime(true);
        while (true) {
            if (@{wait}) {
                $read = [$this->stream];
                $write = $except = [];
                stream_select($read, $write, $except, 1);
            }
            $line = fgets($this->stream);
            if ($line !== false) {
                break;
            }
            if (feof($this->stream)) {
                exit(1);
            }
        }
        if (!@{wait}) {
            $this->idle += (hrtime(true) - $start) / 1e9;
        }
        return $line;
    }

    public function more(): array
    {
        $lines = [];
        while (($line = fgets($this->stream)) !== false) {
            $lines[] = $line;
        }
        return $lines;
    }
}

$subscription = new Subscription('tcp://127.0.0.1:@{port}');
[$began, $units, $busy, $best] = [hrtime(true), 0, 0.0, []];
while ((hrtime(true) - $began) / 1e9 < @{seconds}) {
    $lines = [$subscription->@{fn}()];
    if (@{wait} == 2) {
        array_push($lines, ...$subscription->more());
    }
    foreach ($lines as $line) {
        $start = hrtime(true);
        while (hrtime(true) - $start < @{effort} * 1e6) {
            [, $number, $price] = explode(' ', trim($line));
            $best[intdiv((int)$number, 100) % 50] = max($price, 0);
        }
        $units++;
        $busy += (hrtime(true) - $start) / 1e9;
    }
}
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy + $subscription->idle, 'culprit' => $subscription->idle]));
