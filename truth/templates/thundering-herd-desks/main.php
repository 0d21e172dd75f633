<?php
// Checks addresses of new customers: children that were forked before take the next one from a pipe.
declare(strict_types=1);

const JOB = 64;

function seconds(): float
{
    return hrtime(true) / 1e9;
}

/** The time of the processors that this process has taken. */
function used(): float
{
    $all = getrusage();
    return $all['ru_utime.tv_sec'] + $all['ru_stime.tv_sec'] + ($all['ru_utime.tv_usec'] + $all['ru_stime.tv_usec']) / 1e6;
}

final class Checker
{
    private int $units = 0;
    private int $late = 0;

    public function __construct(private $jobs)
    {
        stream_set_blocking($jobs, @{polled} === 0);
        stream_set_read_buffer($jobs, 0);
    }

    /** The next address; '' if there is none for this one, null at the end. */
    private function @{fn}(): ?string
    {
        if (@{polled}) {
            $ready = [$this->jobs];
            $none = null;
            if (!stream_select($ready, $none, $none, 3600)) {
                return '';
            }
        }
        $job = fread($this->jobs, JOB);
        if ($job !== false && $job !== '') {
            return $job;
        }
        return feof($this->jobs) || !@{polled} ? null : '';
    }

    private function check(string $job): void
    {
        [$came, $address] = explode('|', rtrim($job));
        $start = seconds();
        $best = PHP_INT_MAX;
        for ($n = 0; seconds() - $start < @{effort} / 1000; $n++) {
            $best = min($best, levenshtein($address, "Lindenweg $n"));
        }
        $this->units++;
        $this->late += (int) (seconds() - (float) $came > 0.5);
    }

    public function run(): array
    {
        $before = used();
        while (($job = $this->@{fn}()) !== null) {
            if ($job !== '') {
                $this->check($job);
            }
        }
        return [$this->units, used() - $before];
    }
}

$path = '@{work}/@{jobs}';
posix_mkfifo($path, 0600);
$both = fopen($path, 'r+b');
$jobs = fopen($path, 'wb');
stream_set_write_buffer($jobs, 0);
$results = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_DGRAM, 0);
$crew = [];
for ($i = 0; $i < @{crew}; $i++) {
    $pid = pcntl_fork();
    if ($pid === 0) {
        $mine = fopen($path, 'rb');
        fclose($both);
        fclose($jobs);
        fwrite($results[1], implode(' ', (new Checker($mine))->run()));
        posix_kill(posix_getpid(), SIGKILL);
    }
    $crew[] = $pid;
}
usleep(300_000);

$began = $due = seconds();
$number = 0;
while (seconds() - $began < @{seconds}) {
    $due += 1 / @{rate};
    $rest = $due - seconds();
    if ($rest > 0) {
        usleep((int) ($rest * 1e6));
    }
    $text = '';
    for ($i = 0; $i < @{at_once}; $i++) {
        $text .= str_pad(sprintf('%.6F|Lindnweg %d', seconds(), ++$number % 997), JOB - 1) . "\n";
    }
    fwrite($jobs, $text);
}
fclose($both);
fclose($jobs);
$units = 0;
$spent = 0.0;
foreach ($crew as $pid) {
    [$one, $time] = explode(' ', (string) fread($results[0], 200));
    $units += (int) $one;
    $spent += (float) $time;
    pcntl_waitpid($pid, $status);
}
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $spent]));
