<?php
// Watches the prices of the papers in a customer's deposit, from the feed of the exchange.
const COLUMNS = @{columns};

class Deposit
{
    private array $papers = [];
    public int $alarms = 0;

    public function isMine(string $paper): bool
    {
        return (int) substr($paper, 1) < @{mine};
    }

    public function price(string $paper, float $price, int $count): void
    {
        $known = $this->papers[$paper] ?? ['mean' => $price, 'low' => $price, 'high' => $price, 'traded' => 0];
        if ($price > $known['mean'] * 1.8 || $price < $known['mean'] * 0.3) {
            $this->alarms++;
        }
        $known['low'] = min($known['low'], $price);
        $known['high'] = max($known['high'], $price);
        $known['mean'] += ($price - $known['mean']) * 0.02;
        $known['traded'] += $count;
        $this->papers[$paper] = $known;
    }
}

function @{fnCamel}(string $line, array $names): array
{
    $quote = [];
    foreach (explode(';', $line) as $place => $column) {
        $text = trim($column);
        $quote[$names[$place] ?? $place] = is_numeric($text) ? (float) $text : $text;
    }
    return $quote;
}

/** Most papers are none of ours: the first column tells. */
function firstThree(string $line, Deposit $deposit): ?array
{
    if ((int) substr($line, 1, 5) >= @{mine}) {
        return null;
    }
    $parts = explode(';', $line, 4);
    return ['paper' => $parts[0], 'price' => (float) $parts[1], 'count' => (int) $parts[2]];
}

$names = ['paper', 'price', 'count'];
for ($i = 3; $i < COLUMNS; $i++) {
    $names[] = "field_$i";
}
$feed = stream_socket_client('tcp://127.0.0.1:@{feed}', $code, $message, 5) or exit($message);
$deposit = new Deposit();
$units = 0;
$busy = $spent = 0.0;
$rest = '';
$began = hrtime(true);
while ((hrtime(true) - $began) / 1e9 < @{seconds}) {
    $text = fread($feed, 65536);
    if ($text === false || $text === '') {
        break;
    }
    $start = hrtime(true);
    $lines = explode("\n", $rest . $text);
    $rest = array_pop($lines);
    $found = [];
    $parsing = hrtime(true);
    foreach ($lines as $line) {
        $quote = '@{way}' === 'all' ? @{fnCamel}($line, $names) : firstThree($line, $deposit);
        if ($quote !== null && $deposit->isMine($quote['paper'])) {
            $found[] = $quote;
        }
    }
    $spent += (hrtime(true) - $parsing) / 1e9;
    foreach ($found as $quote) {
        $deposit->price($quote['paper'], (float) $quote['price'], (int) $quote['count']);
    }
    $units += count($lines);
    $busy += (hrtime(true) - $start) / 1e9;
}
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $spent]));
