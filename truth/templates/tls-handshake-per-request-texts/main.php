<?php
// Tells the customers of a garage that their cars are ready: text messages, by way of a carrier's gate.

final class Carrier
{
    public float $spent = 0.0;
    private $line = null;
    private int $used = 0;

    private function @{fnCamel}(): void
    {
        $start = hrtime(true);
        if ($this->line !== null) {
            fclose($this->line);
        }
        $context = stream_context_create([
            'ssl' => ['cafile' => '@{work}/carrier.pem', 'peer_name' => 'carrier.example.net', 'verify_peer' => true],
            'socket' => ['tcp_nodelay' => true],
        ]);
        $line = stream_socket_client('tls://127.0.0.1:@{carrier}', $code, $why, 20, STREAM_CLIENT_CONNECT, $context);
        if ($line === false) {
            throw new RuntimeException("the carrier: $why");
        }
        stream_set_timeout($line, 20);
        $this->line = $line;
        $this->used = 0;
        $this->spent += (hrtime(true) - $start) / 1e9;
    }

    public function send(array $message): array
    {
        if ($this->line === null || $this->used >= @{each}) {
            $this->@{fnCamel}();
        }
        $this->used++;
        fwrite($this->line, json_encode($message) . "\n");
        $answer = json_decode((string) fgets($this->line), true);
        if (!is_array($answer) || $answer['id'] !== $message['id']) {
            throw new RuntimeException("message {$message['id']}: no answer");
        }
        return $answer;
    }
}

final class Jobs
{
    private const WORK = ['brakes', 'clutch', 'exhaust', 'gears', 'lights', 'mirror', 'oil', 'paint', 'tyres', 'wipers'];

    // What was done, the dearest first, and as much of it as fits.
    public function text(int $car): string
    {
        $done = [];
        for ($i = 0; $i < @{words}; $i++) {
            $done[self::WORK[($car + $i * 3) % 10] . ' ' . ($i % 7 + 1)] = ($car * 37 + $i * 101) % 900;
        }
        for ($round = 0; $round < @{effort}; $round++) {
            uasort($done, fn (int $one, int $other) => $round % 2 ? $one <=> $other : $other <=> $one);
        }
        $text = sprintf('Your car is ready, %.2f in all:', array_sum($done) / 10);
        foreach ($done as $what => $price) {
            if (strlen($text) + strlen($what) > 300) {
                break;
            }
            $text .= " $what ($price),";
        }
        return rtrim($text, ',');
    }
}

$log = fopen('@{work}/messages.log', 'ab');
$carrier = new Carrier();
$jobs = new Jobs();
$units = 0;
$busy = 0.0;
$finish = microtime(true) + @{seconds};
$due = microtime(true);
while (microtime(true) < $finish) {
    $due = max($due + 1 / @{rate}, microtime(true));
    usleep((int) max(0, ($due - microtime(true)) * 1e6));
    $start = hrtime(true);
    $answer = $carrier->send(['id' => $units, 'to' => sprintf('+4917%08d', $units * 7919 % 100000000), 'text' => $jobs->text($units)]);
    fwrite($log, date('H:i:s') . " car $units: {$answer['state']} in {$answer['parts']} parts\n");
    $busy += (hrtime(true) - $start) / 1e9;
    $units++;
}
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $carrier->spent]));
