<?php
// The desk of the tombola: draws a hamper for each winning ticket, prints its label, and tells the sponsor.
declare(strict_types=1);

const GOODS = ['honey', 'plum jam', 'cheese', 'rye bread', 'candles', 'tea', 'soap', 'cider', 'walnuts', 'biscuits', 'mustard'];

function now(): float
{
    return hrtime(true) / 1e9;
}

final class Hamper
{
    /** @param string[] $goods */
    public function __construct(public int $number, public string $winner, public array $goods)
    {
    }

    public static function draw(int $ticket, array $winners): self
    {
        $goods = [];
        for ($i = 0; $i < @{goods}; $i++) {
            $goods[] = GOODS[($ticket * 7 + $i * 3) % count(GOODS)] . ' ' . (1 + ($ticket + $i) % 4);
        }
        return new self($ticket, $winners[$ticket * 131 % count($winners)], $goods);
    }

    public function label(): string
    {
        $width = max(array_map('strlen', $this->goods)) + 4;
        $rows = $this->goods;
        sort($rows);
        array_unshift($rows, $this->winner);
        return implode("\n", array_map(fn($row) => '* ' . str_pad($row, $width) . '*', $rows));
    }

    /** @return string[] */
    public function told(): array
    {
        return [
            "HAMPER $this->number", "WINNER $this->winner", 'SHELF ' . $this->number % 12,
            ...array_map(fn($one) => "GOODS $one", $this->goods),
            'WEIGHT ' . count($this->goods) * 420, 'CLOSE',
        ];
    }
}

final class Sponsor
{
    private $socket;

    public function __construct(int $port)
    {
        $context = stream_context_create(['socket' => ['tcp_nodelay' => true]]);
        $this->socket = stream_socket_client("tcp://127.0.0.1:$port", $code, $text, 5, STREAM_CLIENT_CONNECT, $context);
        if (!$this->socket) {
            throw new RuntimeException("sponsor: $text");
        }
        stream_set_timeout($this->socket, 10);
    }

    private function word(): string
    {
        $word = fgets($this->socket);
        if ($word === false || !str_starts_with($word, '200')) {
            throw new RuntimeException('sponsor said: ' . var_export($word, true));
        }
        return rtrim($word);
    }

    public function @{fn}(array $lines): string
    {
        $word = '';
        if (@{together}) {
            fwrite($this->socket, implode("\n", $lines) . "\n");
            foreach ($lines as $_) {
                $word = $this->word();
            }
            return $word;
        }
        foreach ($lines as $line) {
            fwrite($this->socket, "$line\n");
            $word = $this->word();
        }
        return $word;
    }
}

$winners = array_map(fn($i) => 'Visitor ' . $i * 7919 % 10007, range(0, @{names} - 1));
$sponsor = new Sponsor(@{port});
$units = $letters = 0;
$busy = $culprit = 0.0;
$began = now();
while (now() - $began < @{seconds}) {
    $start = now();
    $hamper = Hamper::draw($units, $winners);
    $letters += strlen($hamper->label());
    $asked = now();
    $sponsor->@{fn}($hamper->told());
    $culprit += now() - $asked;
    $units++;
    $busy += now() - $start;
    $rest = $began + $units / @{rate} - now();
    if ($rest > 0) {
        usleep((int) ($rest * 1e6));
    }
}
file_put_contents('@{report}', json_encode(['units' => $units, 'letters' => $letters, 'seconds' => $busy, 'culprit' => $culprit]));
