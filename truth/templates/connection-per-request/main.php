<?php
// Fills the profile of each customer from the directory.
final class Directory_
{
    private $line = null;
    public float $opening = 0.0;

    public function open(): void
    {
        $began = hrtime(true);
        $this->line = fsockopen('127.0.0.1', @{back}, $code, $text, 5);
        for ($i = 0; $i < @{steps}; $i++) {
            fwrite($this->line, $i === 0 ? "HELLO profiles\n" : "AUTH step $i\n");
            fgets($this->line);
        }
        $this->opening += (hrtime(true) - $began) / 1e9;
    }

    public function @{fnCamel}(string $name): string
    {
        if ($this->line === null) {
            $this->open();
        }
        fwrite($this->line, "GET $name\n");
        $answer = fgets($this->line);
        if (@{keep} === 0) {
            $this->close();
        }
        return $answer;
    }

    public function close(): void
    {
        $began = hrtime(true);
        fclose($this->line);
        $this->line = null;
        $this->opening += (hrtime(true) - $began) / 1e9;
    }
}

$directory = new Directory_();
$began = hrtime(true) / 1e9;
[$units, $busy] = [0, 0.0];
while (hrtime(true) / 1e9 - $began < @{seconds}) {
    $start = hrtime(true);
    $profile = [];
    for ($i = 0; $i < (@{keep} === 2 ? 1 : @{calls}); $i++) {
        $profile[] = $directory->@{fnCamel}("customer-$units-$i");
        for ($r = 0, $seal = $profile[$i]; $r < @{rounds}; $r++) {
            $seal = md5($seal);
        }
    }
    if (@{keep} === 2) {
        $directory->close();
    }
    $units++;
    $busy += (hrtime(true) - $start) / 1e9;
    $rest = $began + $units / @{pace} - hrtime(true) / 1e9;
    if ($rest > 0) {
        usleep((int)($rest * 1e6));
    }
}
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $directory->opening]));
