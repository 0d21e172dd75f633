<?php
// Puts pages together: a page is a few parts, and each part that has changed since is read anew.

final class Parts
{
    private array $known = [];
    public float $spent = 0.0;

    public function __construct(private string $root)
    {
    }

    public function @{fnCamel}(int $number): string
    {
        $start = microtime(true);
        $path = sprintf('%s/part%d/@{item}-%d.txt', $this->root, $number % 6 + 1, $number % 60 + 1);
        clearstatcache(true, $path);
        if (!is_file($path)) {
            return '';
        }
        $changed = filemtime($path);
        if (($this->known[$number % 360][0] ?? 0) !== $changed || $number % 3 === 0) {
            $this->known[$number % 360] = [$changed, file_get_contents($path)];
        }
        $this->spent += microtime(true) - $start;
        return $this->known[$number % 360][1];
    }
}

function page(array $parts): string
{
    $text = implode("\n", $parts);
    for ($i = 0; $i < @{rounds}; $i++) {
        $text = ucwords(strtolower($text));
    }
    return md5($text);
}

$layout = file_get_contents('@{work}/@{first}/part1/@{item}-1.txt');
$parts = new Parts('@{work}/@{source}');
$began = $due = microtime(true);
$units = 0;
$busy = 0.0;
while (microtime(true) - $began < @{seconds}) {
    $start = microtime(true);
    $pieces = [$layout];
    for ($i = 0; $i < @{files}; $i++) {
        $pieces[] = $parts->@{fnCamel}($units * 7 + $i);
    }
    page($pieces);
    $busy += microtime(true) - $start;
    $units++;
    $due = max($due + 1 / @{per_s}, microtime(true));
    usleep((int)(max(0.0, $due - microtime(true)) * 1e6));
}
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $parts->spent]));
