<?php
// Converts scans and puts each away; the archive's disk has them before the next one is looked at.

class Archive
{
    public float $spent = 0.0;

    public function __construct(private string $path, private int $slots)
    {
    }

    public function @{fnCamel}(int $number, string $scan): void
    {
        $start = microtime(true);
        $out = fopen("{$this->path}." . $number % $this->slots, 'c');
        fwrite($out, $scan);
        fdatasync($out);
        fclose($out);
        $this->spent += microtime(true) - $start;
    }
}

function scan(int $number, int $bytes): string
{
    $line = md5((string)$number) . str_repeat(chr(65 + $number % 26), 992);
    return substr(str_repeat($line, intdiv($bytes, 1024) + 1), 0, $bytes);
}

file_put_contents('/sys/fs/cgroup/blkio/@{slice}/cgroup.procs', getmypid());
$archive = new Archive('@{work}/@{upload}', 6);
$began = microtime(true);
$due = $began;
$units = 0;
$busy = 0.0;
while (microtime(true) - $began < @{seconds}) {
    $start = microtime(true);
    $archive->@{fnCamel}($units, scan($units, @{kb} * 1000));
    $busy += microtime(true) - $start;
    $units++;
    $due = max($due + 1 / @{per_s}, microtime(true));
    usleep((int)(max(0.0, $due - microtime(true)) * 1e6));
}
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $archive->spent]));
