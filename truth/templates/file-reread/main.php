<?php
// Checks the articles of incoming parcels against the list.
final class Articles
{
    private ?string $text = null;

    public function __construct(private string $path, private bool $keep)
    {
    }

    public function @{fnCamel}(): string
    {
        if (!$this->keep) {
            return file_get_contents($this->path);
        }
        return $this->text ??= file_get_contents($this->path);
    }

    public function price(string $list, int $article): float
    {
        // All lines of the beginning have one length: a good guess, then the search.
        $key = sprintf('K%06d;', $article);
        $at = strpos($list, $key, max(0, min(strlen($list) - 200, $article * 34)));
        return $at === false ? 0.0 : (float) substr($list, $at + 8, 8);
    }
}

$articles = new Articles('@{work}/@{table}', @{kept} === 1);
$rate = min(400, @{load} * 5.0e7 / @{rows});
$articles->@{fnCamel}();
[$units, $busy, $culprit, $sum, $began] = [0, 0.0, 0.0, 0.0, hrtime(true)];
while ((hrtime(true) - $began) / 1e9 < @{seconds}) {
    $start = hrtime(true);
    for ($i = 0; $i < 20; $i++) {
        $before = hrtime(true);
        $list = $articles->@{fnCamel}();
        $culprit += (hrtime(true) - $before) / 1e9;
        $sum += $articles->price($list, ($units * 7 + $i) % 900);
        unset($list);
    }
    if (@{notices} && $units % 4 === 0) {
        $sum += strlen(file_get_contents('@{work}/@{notice}'));
    }
    $units++;
    $busy += (hrtime(true) - $start) / 1e9;
    usleep((int) max(0, ($units / $rate - (hrtime(true) - $began) / 1e9) * 1e6));
}
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $culprit]));
