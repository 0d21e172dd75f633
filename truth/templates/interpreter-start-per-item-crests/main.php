<?php
// Enters arms into the registry: what a blazon says, and whether somebody bears the same.
declare(strict_types=1);

const TINCTURES = ['Azure', 'Gules', 'Or', 'Argent', 'Vert', 'Sable', 'Purpure'];
const CHARGES = ['lion', 'eagle', 'bend', 'chevron', 'fess', 'mullet', 'martlet', 'cross', 'saltire', 'pale'];
const SCRIPT = ['@{tool}', '@{work}/@{script}.@{ending}'];

function now(): float
{
    return hrtime(true) / 1e9;
}

function blazon(int $number): string
{
    $said = TINCTURES[$number % 7];
    for ($i = 0; $i < @{charges}; $i++) {
        $number = $number * 48271 % 2147483647 + $i;
        $said .= ', a ' . CHARGES[$number % 10] . ' ' . TINCTURES[intdiv($number, 10) % 7];
    }
    return $said;
}

final class Registry
{
    public float $culprit = 0.0;
    public int $alike = 0;
    private array $arms = [];
    private array $pipes = [];
    private $reader = null;

    public function __construct()
    {
        if ('@{way}' === 'kept') {
            $this->reader = proc_open(SCRIPT, [['pipe', 'r'], ['pipe', 'w']], $this->pipes);
            $this->ask('Or, a lion Gules');
        }
    }

    private function ask(string $text): string
    {
        fwrite($this->pipes[0], $text . "\n");
        return fgets($this->pipes[1]);
    }

    private function @{fn}(array $texts): array
    {
        $child = proc_open(SCRIPT, [['pipe', 'r'], ['pipe', 'w']], $pipes);
        fwrite($pipes[0], implode("\n", $texts) . "\n");
        fclose($pipes[0]);
        $said = explode("\n", trim(stream_get_contents($pipes[1])));
        fclose($pipes[1]);
        if (proc_close($child) !== 0) {
            throw new RuntimeException('not read');
        }
        return $said;
    }

    private function read(array $texts): array
    {
        if ($this->reader !== null) {
            return [$this->ask($texts[0])];
        }
        $from = now();
        $said = $this->@{fn}($texts);
        if (count($texts) === 1) {
            $this->culprit += now() - $from;
        }
        return $said;
    }

    public function enter(array $texts): void
    {
        foreach ($this->read($texts) as $said) {
            $arms = json_decode($said, true);
            $key = sha1(implode('/', $arms['fields']) . $arms['sum']);
            $this->arms[$key] = ($this->arms[$key] ?? 0) + 1;
            $this->alike += $this->arms[$key] > 1 ? 1 : 0;
        }
    }
}

$registry = new Registry();
[$units, $busy, $number] = [0, 0.0, 0];
$began = now();
while (now() - $began < @{seconds}) {
    $start = now();
    $texts = [];
    while (count($texts) < @{at_once}) {
        $texts[] = blazon($number++);
    }
    $registry->enter($texts);
    $units++;
    $busy += now() - $start;
    usleep((int) max(0, ($began + $units / @{rate} - now()) * 1e6));
}
echo $registry->alike, " borne by another already\n";
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $registry->culprit]));
