<?php
// Plans how a ship is loaded: hold by hold, so that she neither heels nor trims too much.

const TABLE = "@{work}/@{yard}/@{table}", ROW = @{row}, BLOCK = 256;

function now(): float
{
    return hrtime(true) / 1e9;
}

final class Hydrostatics
{
    public float $spent = 0.0;
    private int $rows;
    private ?string $all = null, $block = null;

    public function __construct()
    {
        $this->rows = intdiv(filesize(TABLE), ROW);
        if ("@{way}" === "all") {
            $this->all = file_get_contents(TABLE);
        }
    }

    /** A ship's rows are beside each other. */
    public function ship(int $number): void
    {
        if ("@{way}" === "block") {
            $this->block = file_get_contents(TABLE, false, null, $number * BLOCK % ($this->rows - BLOCK) * ROW, BLOCK * ROW);
        }
    }

    public function @{fnCamel}(int $draught): array
    {
        $start = now();
        if ($this->all !== null) {
            $row = substr($this->all, $draught % $this->rows * ROW, ROW);
        } elseif ($this->block !== null) {
            $row = substr($this->block, $draught % BLOCK * ROW, ROW);
        } else {
            $file = fopen(TABLE, "rb");
            stream_set_read_buffer($file, 0);
            fseek($file, $draught % $this->rows * ROW);
            $row = fread($file, ROW);
            fclose($file);
        }
        $this->spent += now() - $start;
        return unpack("v8", $row);
    }
}

function orders(int $number): iterable
{
    for ($i = 0; $i < @{steps}; $i++) {
        yield [200 + ($number * 37 + $i * 113) % 900, ($i % @{frames} - @{frames} / 2) * 12.5, 3 + $i % 7];
    }
}

function plan(Hydrostatics $tables, int $number): float
{
    [$weight, $moment, $lift, $worst] = [9000.0, 0.0, 0.0, 0.0];
    foreach (orders($number) as [$tonnes, $arm, $height]) {
        $weight += $tonnes;
        $moment += $tonnes * $arm;
        $lift += $tonnes * $height;
        $row = $tables->@{fnCamel}((int) ($weight * 7919) + $number);
        $metacentre = 6 + $row[1] / 65536 * 3 + $row[2] / 65536;
        $trim = $moment / ($weight * (100 + $row[3] % 50));
        $heel = atan2($lift / $weight - $metacentre, 1 + $row[4] % 40);
        $worst = max($worst, abs($trim) + abs($heel));
    }
    return $worst;
}

$tables = new Hydrostatics();
[$units, $busy, $worst] = [0, 0.0, 0.0];
$began = now();
while (($start = now()) - $began < @{seconds}) {
    $tables->ship($units);
    $worst = max($worst, plan($tables, $units));
    $units++;
    $busy += now() - $start;
    usleep(max(0, (int) (($began + $units / @{rate} - now()) * 1e6)));
}
printf("%.3f\n", $worst);
file_put_contents("@{report}", json_encode(["units" => $units, "seconds" => $busy, "culprit" => $tables->spent]));
