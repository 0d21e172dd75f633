<?php
// The turnstile of a stadium. It reads a visitor's ticket, asks the ticket office by datagram whether it is good, and says which way to go.
declare(strict_types=1);

const GATE = 4;

final class Office
{
    /** @var resource */
    private $socket;

    public function __construct(string $address)
    {
        $socket = stream_socket_client($address, $code, $why);
        if ($socket === false) {
            throw new RuntimeException("no office: $why");
        }
        stream_set_blocking($socket, false);
        $this->socket = $socket;
    }

    private function heard(string $key, float $until): ?string
    {
        while (($left = $until - microtime(true)) > 0) {
            $ready = [$this->socket];
            $none = null;
            if (stream_select($ready, $none, $none, 0, (int) ($left * 1e6)) < 1) {
                continue;
            }
            $answer = (string) fread($this->socket, 512);
            if (str_starts_with($answer, $key)) {
                return $answer;
            }
        }
        return null;
    }

    public function @{fnCamel}(int $id, int $ticket): array
    {
        $question = sprintf('ticket %d %d %d', $id, $ticket, GATE);
        $patience = @{patience} / 1000;
        do {
            fwrite($this->socket, $question);
            $answer = $this->heard("ticket $id ", microtime(true) + $patience);
            $patience *= @{grows};
        } while ($answer === null);
        [, , $good, $block] = explode(' ', $answer);
        return [$good === 'yes', (int) $block];
    }

    public function lamp(): string
    {
        fwrite($this->socket, 'lamp ' . GATE);
        return $this->heard('lamp', microtime(true) + 1) ?? 'lamp unknown';
    }
}

/** The code on a ticket: its last figure proves the others. */
function readCode(int $number): string
{
    $figures = sprintf('%09d', $number);
    $sum = 0;
    foreach (str_split($figures) as $i => $figure) {
        $sum += (int) $figure * ($i % 2 ? 3 : 1);
    }
    return $figures . (10 - $sum % 10) % 10;
}

function checkCode(string $code): ?int
{
    $number = (int) substr($code, 0, -1);
    return readCode($number) === $code ? $number : null;
}

function readBlocks(string $path): array
{
    $ways = [];
    foreach (file($path, FILE_IGNORE_NEW_LINES | FILE_SKIP_EMPTY_LINES) as $line) {
        [$block, $stair, $level] = array_map('intval', explode(' ', $line));
        $ways[$block] = "stair $stair, level $level";
    }
    return $ways;
}

$ways = readBlocks('@{work}/blocks.txt');
$office = new Office('udp://127.0.0.1:@{office}');
$entered = $refused = $units = 0;
$busy = $culprit = 0.0;
$lamp = $last = '';
$began = microtime(true);
while (microtime(true) - $began < @{seconds}) {
    $start = microtime(true);
    $ticket = checkCode(readCode($units * 7919 % @{season}));
    $asked = microtime(true);
    [$good, $block] = $office->@{fnCamel}($units + 1, $ticket);
    $culprit += microtime(true) - $asked;
    $last = $good ? $ways[$block] : 'please ask at the desk';
    $good ? $entered++ : $refused++;
    for ($i = 0; $i < @{looks}; $i++) {
        $lamp = $office->lamp();
    }
    $units++;
    $busy += microtime(true) - $start;
    $rest = $began + $units / @{rate} - microtime(true);
    if ($rest > 0) {
        usleep((int) ($rest * 1e6));
    }
}
fwrite(STDERR, "$entered entered, $refused refused, last: $last\n");
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $culprit]));
