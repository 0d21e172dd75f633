<?php
// A directory of podcasts: the editor hands show after show to readers, which are processes of their own, and keeps what they found.
declare(strict_types=1);

const STATIONS = [@{city}, @{hills}, @{coast}];
const LIMIT = @{limit};

function now(): float
{
    return hrtime(true) / 1e9;
}

final class Station
{
    /** @var resource|null */
    private $line = null;
    public float $lost = 0;

    public function __construct(private int $port)
    {
    }

    /** @return resource */
    private function line()
    {
        if ($this->line === null) {
            $this->line = stream_socket_client("tcp://127.0.0.1:$this->port", $code, $why, 2, STREAM_CLIENT_CONNECT, stream_context_create(['socket' => ['tcp_nodelay' => true]]));
            if (LIMIT > 0) {
                stream_set_timeout($this->line, (int) LIMIT, (int) (fmod(LIMIT, 1) * 1e6));
            }
        }
        return $this->line;
    }

    public function @{fnCamel}(int $show): ?string
    {
        $began = now();
        fwrite($this->line(), "GET /shows/$show HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
        $length = 0;
        while (($head = fgets($this->line)) !== false && rtrim($head) !== '') {
            if (stripos($head, 'content-length:') === 0) {
                $length = (int) substr($head, 15);
            }
        }
        $text = '';
        while (strlen($text) < $length) {
            $piece = fread($this->line, $length - strlen($text));
            if ($piece === '' || $piece === false) {
                fclose($this->line);
                $this->line = null;
                $this->lost += now() - $began;
                return null;
            }
            $text .= $piece;
        }
        return $text;
    }
}

/** The entries of an answer, each by the mark that it is known by. */
function entries(string $text): array
{
    $found = [];
    foreach (explode("\n", rtrim($text)) as $row) {
        [$date, $seconds, $title] = explode("\t", $row);
        $mark = hash('sha256', preg_replace('/[^a-z0-9]+/', '-', strtolower($title)));
        $found[$mark] = sprintf('%s %d:%02d %s', $date, intdiv((int) $seconds, 60), $seconds % 60, $title);
    }
    return $found;
}

function read_shows($editor): never
{
    ini_set('default_socket_timeout', '-1');
    $stations = array_map(fn (int $port) => new Station($port), STATIONS);
    while (($line = fgets($editor)) !== false) {
        $number = (int) $line;
        $station = $stations[$number % 3];
        $station->lost = 0;
        $text = $station->@{fnCamel}($number);
        fwrite($editor, json_encode(['lost' => $station->lost, 'entries' => $text === null ? [] : entries($text)]) . "\n");
    }
    exit(0);
}

$readers = $free = $since = [];
for ($i = 0; $i < @{readers}; $i++) {
    [$ours, $theirs] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    $child = pcntl_fork();
    if ($child === 0) {
        fclose($ours);
        read_shows($theirs);
    }
    fclose($theirs);
    $readers[$child] = $ours;
    $free[] = $child;
}
$door = @{office} ? stream_socket_server('unix://@{work}/@{door}') : null;
$directory = [];
$waiting = [];
$units = $number = 0;
$busy = $lost = 0.0;
$begun = now();
while (now() - $begun < @{seconds}) {
    for (; $begun + $number / @{rate} <= now(); $number++) {
        $waiting[] = $number;
    }
    while ($waiting && $free) {
        $reader = array_shift($free);
        $since[$reader] = now();
        fwrite($readers[$reader], array_shift($waiting) . "\n");
    }
    $ready = array_intersect_key($readers, $since) + ($door ? [0 => $door] : []);
    $rest = max(0.001, $begun + $number / @{rate} - now());
    $none = null;
    if (!$ready) {
        usleep((int) ($rest * 1e6));
        continue;
    }
    if (!stream_select($ready, $none, $none, (int) $rest, (int) (fmod($rest, 1) * 1e6))) {
        continue;
    }
    foreach ($ready as $reader => $line) {
        if ($line === $door) {
            $editor = stream_socket_accept($door);
            fwrite($editor, count($directory) . "\n");
            fclose($editor);
            continue;
        }
        $said = json_decode(fgets($line), true);
        $directory = array_merge($directory, $said['entries']);
        $units++;
        $lost += $said['lost'];
        $busy += now() - $since[$reader];
        unset($since[$reader]);
        $free[] = $reader;
    }
}
$hanging = array_sum(array_map(fn (float $start) => now() - $start, $since));
foreach ($readers as $child => $line) {
    posix_kill($child, SIGKILL);
    pcntl_waitpid($child, $status);
}
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy + $hanging, 'culprit' => $lost + $hanging]));
