<?php
// The steward of a streamed concert: a listener who asks gets a ticket and the programme, or is told to come later.
const ROOM = @{room};

function now(): float
{
    return hrtime(true) / 1e9;
}

function @{fnCamel}(): int
{
    if ('@{count}' === 'totals') {
        preg_match('/^TCP: inuse (\d+)/m', file_get_contents('/proc/net/sockstat'), $found);
        return (int)$found[1];
    }
    $count = 0;
    foreach (array_slice(explode("\n", file_get_contents('/proc/net/tcp')), 1) as $line) {
        $words = preg_split('/\s+/', trim($line));
        if (($words[3] ?? '') === '01') {
            $count++;
        }
    }
    return $count;
}

final class Steward
{
    public float $counting = 0.0;
    private array $tickets = [];
    private int $refused = 0;
    private int $there = 0;

    private function programme(int $number, string $lang): string
    {
        $lines = [];
        for ($verse = 0; $verse < @{verses}; $verse++) {
            $lines[] = sprintf('%d. [%s] Psalm %d, verse %d', $verse + 1, $lang, ($number * 7 + $verse) % 150 + 1, $verse % 12 + 1);
        }
        return implode("\n", $lines);
    }

    public function admit(int $number, string $seat, string $lang): void
    {
        if ($number % @{good_for} === 0) {
            $start = now();
            $this->there = @{fnCamel}();
            $this->counting += now() - $start;
        }
        if ($this->there >= ROOM) {
            $this->refused++;
            return;
        }
        $ticket = hash_hmac('sha256', "$number $seat " . $this->programme($number, $lang), '@{app}');
        $this->tickets[substr($ticket, 0, 16)] = $number;
    }
}

$steward = new Steward();
[$units, $busy, $began] = [0, 0.0, now()];
while (now() - $began < @{seconds}) {
    $start = now();
    $steward->admit($units, chr(65 + $units % 20) . ($units % 31), ['en', 'de', 'la'][$units % 3]);
    $busy += now() - $start;
    $units++;
    $rest = $began + $units / @{rate} - now();
    if ($rest > 0) {
        usleep((int)($rest * 1e6));
    }
}
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $steward->counting]));
