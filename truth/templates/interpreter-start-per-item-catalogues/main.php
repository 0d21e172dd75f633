<?php
// Imports the articles of suppliers for a shop of lamps.

class Converter
{
    private $process;
    private array $pipes = [];

    public function __construct()
    {
        $command = ['/usr/bin/python3', '@{work}/@{tool}'];
        $this->process = proc_open($command, [['pipe', 'r'], ['pipe', 'w'], STDERR], $this->pipes);
    }

    public function ask(string $line): string
    {
        fwrite($this->pipes[0], $line);
        return fgets($this->pipes[1]);
    }

    public function all(array $lines): array
    {
        fwrite($this->pipes[0], implode('', $lines));
        fclose($this->pipes[0]);
        $answers = [];
        while (($answer = fgets($this->pipes[1])) !== false) {
            $answers[] = $answer;
        }
        fclose($this->pipes[1]);
        if (proc_close($this->process) !== 0) {
            exit(1);
        }
        return $answers;
    }
}

class Importer
{
    public int $units = 0;
    public float $inner = 0;
    private array $known = [];
    private $shelf;

    public function __construct()
    {
        $this->shelf = fopen('@{work}/@{shelf}', 'w');
    }

    public function knows(string $line): bool
    {
        return isset($this->known[(int) $line]);
    }

    public function keep(string $answer): void
    {
        [$took, $text] = explode("\t", $answer, 2);
        $this->inner += (float) $took;
        $article = json_decode($text, true);
        $article['slug'] = preg_replace('/[^a-z0-9]+/', '-', strtolower($article['name']));
        $this->known[$article['number']] = $article['each'];
        fwrite($this->shelf, json_encode($article) . "\n");
        $this->units++;
    }

    public function @{fnCamel}(array $lines): void
    {
        foreach ((new Converter())->all($lines) as $answer) {
            $this->keep($answer);
        }
    }
}

$now = fn(): float => hrtime(true) / 1e9;
$importer = new Importer();
$converter = '@{start}' === 'once' ? new Converter() : null;
$inbox = fopen('@{work}/@{inbox}', 'r');
[$busy, $spent, $waiting, $began] = [0.0, 0.0, [], $now()];
$since = $began;
while ($now() - $began < @{seconds} && ($line = fgets($inbox)) !== false) {
    $from = $now();
    $importer->inner = 0;
    if ($importer->knows($line)) {
        continue;
    }
    if ('@{start}' === 'article') {
        $importer->@{fnCamel}([$line]);
    } elseif ($converter) {
        $importer->keep($converter->ask($line));
    } else {
        $waiting[] = $line;
        if ($from - $since > @{gather}) {
            $importer->@{fnCamel}($waiting);
            $waiting = [];
            $since = $from;
        }
    }
    $took = $now() - $from;
    $busy += $took;
    $spent += $took - $importer->inner;
}
file_put_contents('@{report}', json_encode(['units' => $importer->units, 'seconds' => $busy, 'culprit' => $spent]));
exit(0);
