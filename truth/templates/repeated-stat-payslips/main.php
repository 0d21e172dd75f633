<?php
// The payroll of a chain of bakeries: hours of a month, by the rules of the contract, to a payslip.
declare(strict_types=1);

const EACH = @{each};

final class Taxes
{
    public array $table = [];
    public float $asking = 0.0;
    private int $version = 0;
    private float $asked = 0.0;

    public function __construct(private string $file)
    {
    }

    public function @{fnCamel}(): void
    {
        $start = microtime(true);
        clearstatcache(true, $this->file);
        $version = filemtime($this->file);
        $this->asking += microtime(true) - $start;
        if ($version !== $this->version) {
            $this->version = $version;
            $this->table = json_decode(file_get_contents($this->file), true);
        }
    }

    public function current(int $line): array
    {
        if (EACH ? $line % EACH === 0 : $line === 0 && microtime(true) - $this->asked > 1) {
            $this->asked = microtime(true);
            $this->@{fnCamel}();
        }
        return $this->table;
    }
}

function tax(array $bands, float $gross): float
{
    $sum = $from = 0.0;
    foreach ($bands as [$upTo, $part]) {
        if ($gross <= $from) {
            break;
        }
        $sum += (min($gross, $upTo) - $from) * $part;
        $from = $upTo;
    }
    return $sum;
}

function payslip(Taxes $taxes, int $employee): string
{
    $rows = [];
    $net = 0.0;
    for ($line = 0; $line < @{lines}; $line++) {
        $table = $taxes->current($line);
        $hours = 1 + ($employee * 13 + $line * 7) % 9;
        $gross = $hours * (14.2 + $employee % 11) * (($employee + $line) % 6 ? 1 : 1.25);
        $kept = $gross - tax($table['bands'], $gross * 20) / 20 - $gross * ($table['pension'] + $table['health']);
        $net += $kept;
        $rows[] = round($gross, 2) . ';' . round($kept, 2);
    }
    return "$employee\n" . implode("\n", $rows) . "\n" . round($net, 2) . "\n";
}

$folder = $argv[array_search('--tables', $argv, true) + 1];
$taxes = new Taxes("$folder/@{table}");
$units = $bytes = 0;
$busy = 0.0;
$began = microtime(true);
while (microtime(true) - $began < @{seconds}) {
    $start = microtime(true);
    $bytes += strlen(payslip($taxes, $units++));
    $busy += microtime(true) - $start;
    $rest = $began + $units / @{rate} - microtime(true);
    if ($rest > 0) {
        usleep((int) ($rest * 1e6));
    }
}
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $taxes->asking]));
