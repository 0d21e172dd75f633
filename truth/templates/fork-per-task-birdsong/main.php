<?php
// Takes recordings of bird song into the archive: who sings, how loud, and the line in the index by which it is found again.

const VOICES = ['bittern' => 900, 'owl' => 2500, 'blackbird' => 4800, 'wren' => 5400, 'goldcrest' => 7000];
const RATE = 22050;

final class Index
{
    private array $lines = [];
    private array $known = [];

    private static function told(string $command): string
    {
        $text = shell_exec($command);
        if (!is_string($text)) {
            throw new RuntimeException("$command says nothing");
        }
        return trim($text);
    }

    /** Sum, length and day of a recording. */
    public static function @{fnCamel}(string $path): array
    {
        if (@{outside}) {
            $name = escapeshellarg($path);
            return [
                strtok(self::told("/usr/bin/sha256sum $name"), ' '),
                (int) self::told("/usr/bin/wc -c < $name"),
                self::told("/usr/bin/date -u -r $name +%Y-%m-%d"),
            ];
        }
        return [hash_file('sha256', $path), filesize($path), gmdate('Y-m-d', filemtime($path))];
    }

    public function add(string $path, string $voice, float $loud): void
    {
        [$total, $length, $day] = self::@{fnCamel}($path);
        $name = basename($path, '.pcm');
        $first = $this->known[$total] ??= $name;
        $same = $first === $name ? '' : " = $first";
        $this->lines[] = sprintf("%s\t%s\t%s\t%.1f\t%.2f s\t%s%s", $name, $day, $voice, $loud, $length / 2 / RATE, substr($total, 0, 16), $same);
    }

    public function save(string $path): void
    {
        file_put_contents($path, implode("\n", $this->lines) . "\n");
    }
}

/** Who sings, by how often the wave crosses zero; and how loud. */
function heard(string $path): array
{
    $samples = unpack('s*', file_get_contents($path));
    $count = count($samples);
    [$crossings, $power, $before] = [0, 0, 0];
    for ($i = 1; $i <= $count; $i += 2) {
        $sample = $samples[$i];
        $crossings += ($before < 0) !== ($sample < 0) ? 1 : 0;
        $power += $sample * $sample;
        $before = $sample;
    }
    $pitch = $crossings * 2 / $count * RATE / 2;
    $best = 'owl';
    foreach (VOICES as $voice => $usual) {
        if (abs($usual - $pitch) < abs(VOICES[$best] - $pitch)) {
            $best = $voice;
        }
    }
    return [$best, sqrt($power * 2 / $count)];
}

function now(): float
{
    return hrtime(true) / 1e9;
}

$folder = $argv[1];
$recordings = glob("$folder/*.pcm");
$index = new Index();
[$units, $busy, $spent, $fresh] = [0, 0.0, 0.0, []];
$began = $packed = now();
while (now() - $began < @{seconds}) {
    $start = now();
    $path = $recordings[$units % count($recordings)];
    [$voice, $loud] = heard($path);
    $asked = now();
    $index->add($path, $voice, $loud);
    $spent += now() - $asked;
    $fresh[] = basename($path);
    $units++;
    $busy += now() - $start;
    if (@{pack_s} > 0 && now() - $packed > @{pack_s}) {
        // What came since the last pack, as the tape wants it.
        exec('/usr/bin/tar -cf ' . escapeshellarg("$folder-$units.tar") . ' -C ' . escapeshellarg($folder) . ' ' . implode(' ', array_map('escapeshellarg', $fresh)));
        [$packed, $fresh] = [now(), []];
    }
    $rest = $began + $units / @{rate} - now();
    if ($rest > 0) {
        usleep((int) ($rest * 1e6));
    }
}
$index->save(dirname($folder) . '/index.tsv');
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $spent]));
