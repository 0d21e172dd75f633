<?php
// The control room of a weaving mill. The looms report how many picks they have woven; the room keeps the orders, tells how much yarn they took, and says which bobbin is next.
declare(strict_types=1);

const WHOLE = '@{whole}' === 'yes';
const ROWS = @{rows};
const HOOKS = @{hooks};
const LOOMS = @{looms};

function readYarns(string $path): array
{
    $yarns = [];
    foreach (file($path, FILE_IGNORE_NEW_LINES | FILE_SKIP_EMPTY_LINES) as $line) {
        if (preg_match('/^yarn\.(\d+)\s*=\s*([\d.]+)$/', $line, $found)) {
            $yarns[(int) $found[1]] = (float) $found[2];
        }
    }
    return $yarns;
}

/** Which hooks are up, and which yarn goes through, row by row. */
function pattern(int $loom): array
{
    $rows = [];
    for ($row = 0; $row < ROWS; $row++) {
        $lift = [];
        for ($hook = 0; $hook < HOOKS; $hook++) {
            $lift[] = ($row * 7 + $hook * ($loom + 3)) % 11;
        }
        $rows[] = ['row' => $row, 'yarn' => (intdiv($row, 3) + $loom) % 4, 'lift' => $lift];
    }
    return $rows;
}

/** The orders, by loom. What is on the shelf is text, so that the night shift's copy of it can be taken at any time. */
final class Shelf
{
    private array $texts = [];
    private array $patterns = [];

    public function @{fnCamel}(int $loom): array
    {
        $order = json_decode($this->texts[$loom], true, 32, JSON_THROW_ON_ERROR);
        if (!WHOLE) {
            $order['pattern'] = $this->patterns[$loom];
        }
        return $order;
    }

    public function @{putCamel}(int $loom, array $order): void
    {
        if (!WHOLE) {
            $this->patterns[$loom] = $order['pattern'];
            unset($order['pattern']);
        }
        $this->texts[$loom] = json_encode($order, JSON_THROW_ON_ERROR);
    }
}

final class Room
{
    private Shelf $shelf;
    public float $took = 0.0;

    public function __construct(private array $yarns)
    {
        $this->shelf = new Shelf();
        for ($loom = 0; $loom < LOOMS; $loom++) {
            $this->shelf->@{putCamel}($loom, ['order' => 4000 + $loom, 'customer' => 'house ' . $loom % 7, 'woven' => 0, 'used' => [], 'pattern' => pattern($loom)]);
        }
    }

    private function weave(array &$order, int $picks): void
    {
        $size = count($order['pattern']);
        for ($pick = $order['woven']; $pick < $order['woven'] + $picks; $pick++) {
            $row = $order['pattern'][$pick % $size];
            $key = 'yarn ' . $row['yarn'];
            $order['used'][$key] = round(($order['used'][$key] ?? 0) + $this->yarns[$row['yarn']] * (1 + array_sum($row['lift']) / 4000), 3);
        }
        $order['woven'] += $picks;
    }

    private function nextBobbin(array $order): string
    {
        arsort($order['used']);
        return (string) array_key_first($order['used']);
    }

    public function report(string $line): string
    {
        [, $loom, , $picks] = explode(' ', $line);
        $start = microtime(true);
        $order = $this->shelf->@{fnCamel}((int) $loom);
        $this->took += microtime(true) - $start;
        $this->weave($order, (int) $picks);
        $bobbin = $this->nextBobbin($order);
        $start = microtime(true);
        $this->shelf->@{putCamel}((int) $loom, $order);
        $this->took += microtime(true) - $start;
        return $bobbin;
    }
}

$room = new Room(readYarns('@{work}/yarns.conf'));
$units = 0;
$busy = 0.0;
$bobbins = [];
$began = microtime(true);
while (microtime(true) - $began < @{seconds}) {
    $start = microtime(true);
    $bobbin = $room->report(sprintf('loom %d picks %d', $units * 5 % LOOMS, 800 + $units % 900));
    $bobbins[$bobbin] = ($bobbins[$bobbin] ?? 0) + 1;
    $units++;
    $busy += microtime(true) - $start;
    $rest = $began + $units / @{rate} - microtime(true);
    if ($rest > 0) {
        usleep((int) ($rest * 1e6));
    }
}
fwrite(STDERR, "$units reports, bobbins: " . json_encode($bobbins) . "\n");
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $room->took]));
