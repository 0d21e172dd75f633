<?php
// The watch of a mail provider: follows the logs of its relays, and counts the letters that were refused, by domain.
declare(strict_types=1);

const LINE = '~^(?<when>\S+) (?<host>\S+) (?<service>[\w/]+)\[(?<process>\d+)\]: (?<letter>\w+): (?<pairs>.*?) \((?<answer>.*)\)$~';
const PAIR = '~(\w+)=(?:<([^>]*)>|([^,]*))(?:, )?~';
const REFUSED = '~ to=<[^@>\n]*@([^>\n]+)>[^\n]* status=bounced ~';

/** A log that is followed from its beginning on, and over to the next one when it is put aside. */
final class Log
{
    /** @var resource|null */
    private $file = null;
    private string $rest = '';

    public function __construct(private readonly string $path)
    {
    }

    /** Whole lines that have come; nothing where there are none. */
    public function piece(): string
    {
        $this->file ??= $this->opened();
        if ($this->file === null) {
            return '';
        }
        $got = fread($this->file, 65536);
        if ($got === '' || $got === false) {
            if ($this->isAside()) {
                fclose($this->file);
                $this->file = null;
            }
            return '';
        }
        $this->rest .= $got;
        $end = strrpos($this->rest, "\n");
        if ($end === false) {
            return '';
        }
        $whole = substr($this->rest, 0, $end);
        $this->rest = substr($this->rest, $end + 1);
        return $whole;
    }

    private function opened()
    {
        $this->rest = '';
        $file = @fopen($this->path, 'rb');
        if ($file === false) {
            return null;
        }
        stream_set_chunk_size($file, 65536);
        return $file;
    }

    private function isAside(): bool
    {
        clearstatcache(true, $this->path);
        $current = @stat($this->path);
        return $current === false || $current['ino'] !== fstat($this->file)['ino'];
    }
}

final class Watch
{
    /** @var array<string, int> */
    public array $refused = [];

    private function recordOf(string $line): ?array
    {
        if (!preg_match(LINE, $line, $record)) {
            return null;
        }
        $record['when'] = DateTimeImmutable::createFromFormat('Y-m-d\TH:i:s.vP', $record['when']);
        $record['process'] = (int) $record['process'];
        preg_match_all(PAIR, $record['pairs'], $pairs, PREG_SET_ORDER);
        foreach ($pairs as $pair) {
            $record[$pair[1]] = $pair[2] !== '' ? $pair[2] : ($pair[3] ?? '');
        }
        $record['delays'] = array_map(floatval(...), explode('/', $record['delays']));
        return $record;
    }

    public function @{fnCamel}(string $piece): void
    {
        if ('@{way}' === 'mark') {
            preg_match_all(REFUSED, $piece, $found);
            foreach ($found[1] as $domain) {
                $this->refused[$domain] = ($this->refused[$domain] ?? 0) + 1;
            }
            return;
        }
        foreach (explode("\n", $piece) as $line) {
            $record = $this->recordOf($line);
            if ($record !== null && $record['status'] === 'bounced') {
                $domain = substr(strstr($record['to'], '@'), 1);
                $this->refused[$domain] = ($this->refused[$domain] ?? 0) + 1;
            }
        }
    }
}

$now = static fn (): float => hrtime(true) / 1e9;
$logs = array_map(static fn (int $relay) => new Log("@{work}/@{logs}/relay$relay.log"), range(1, @{relays}));
$watch = new Watch();
[$lines, $busy, $reading, $began] = [0, 0.0, 0.0, $now()];
while ($now() - $began < @{seconds}) {
    $idle = true;
    foreach ($logs as $log) {
        $start = $now();
        $piece = $log->piece();
        if ($piece === '') {
            continue;
        }
        $before = $now();
        $watch->@{fnCamel}($piece);
        $reading += $now() - $before;
        $lines += substr_count($piece, "\n") + 1;
        $busy += $now() - $start;
        $idle = false;
    }
    if ($idle) {
        usleep(20000);
    }
}
printf("%d letters refused, of %d domains\n", array_sum($watch->refused), count($watch->refused));
file_put_contents('@{report}', json_encode(['units' => $lines, 'seconds' => $busy, 'culprit' => $reading]));
