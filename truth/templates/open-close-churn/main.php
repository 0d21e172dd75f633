<?php
// Prints the labels of the parcels of a tour.
final class Labels
{
    public float $spent = 0.0;
    private ?string $text = null;
    private float $since = 0.0;

    public function @{fnCamel}(): string
    {
        $asked = hrtime(true) / 1e9;
        if ($this->text === null || $asked - $this->since >= @{keep_s}) {
            $this->text = file_get_contents('@{work}/@{folder}/@{letter}');
            $this->since = $asked;
            $this->spent += hrtime(true) / 1e9 - $asked;
        }
        return $this->text;
    }

    public function tour(int $number): int
    {
        $size = 0;
        for ($parcel = 0; $parcel < @{reads}; $parcel++) {
            $label = substr($this->@{fnCamel}(), 0, 200);
            for ($i = 0; $i < @{extra}; $i++)
                $size += ord($label[($i + $number) % strlen($label)]);
        }
        return $size;
    }
}

$labels = new Labels();
$units = 0;
$busy = 0.0;
$began = hrtime(true) / 1e9;
while (($start = hrtime(true) / 1e9) - $began < @{seconds}) {
    $labels->tour($units);
    $units++;
    $busy += hrtime(true) / 1e9 - $start;
    $rest = $began + $units / @{rate} - hrtime(true) / 1e9;
    if ($rest > 0)
        usleep((int)($rest * 1e6));
}
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $labels->spent]));
