<?php
// Prints the dance cards of the evening; the desk of the hall knows which dances are still free.
class Desk
{
    public float $waited = 0;
    private $line = null;
    private int $asked = 0;

    private function @{fn}(): bool
    {
        $line = socket_create(AF_INET, SOCK_STREAM, SOL_TCP);
        socket_set_option($line, SOL_TCP, TCP_NODELAY, 1);
        if (@{fenced}) {
            // What the hall's firewall lets in: IP_LOCAL_PORT_RANGE.
            socket_set_option($line, 0, 51, @{lowest} | (@{lowest} + @{ports} - 1) << 16);
        }
        if (!@socket_connect($line, "127.0.0.1", @{desk})) {
            socket_close($line);
            return false;
        }
        $this->line = $line;
        return true;
    }

    public function free(int $night): string
    {
        while ($this->line === null) {
            $began = microtime(true);
            if (!$this->@{fn}()) {
                usleep(@{pause} * 1000);
                $this->waited += microtime(true) - $began;
            }
        }
        socket_write($this->line, "free $night\n");
        $answer = "";
        do {
            $part = socket_read($this->line, 8192);
            $answer .= $part;
        } while ($part !== "" && $part !== false && !str_ends_with($answer, "\n"));
        if (++$this->asked % @{turns} === 0) {
            socket_close($this->line);
            $this->line = null;
        }
        return trim($answer);
    }
}

function card(string $free, int $number): string
{
    [, $list] = explode(" ", $free, 2);
    $rows = [];
    foreach (explode(",", $list) as $dance) {
        [$name, $count] = explode(":", $dance);
        $rows[] = str_pad($name, 24, ".") . str_pad($count, 4, " ", STR_PAD_LEFT);
    }
    $mark = $number;
    for ($i = 0; $i < intdiv(@{seats}, 4); $i++) {
        $mark = ($mark * 1103515245 + 12345) & 0x7fffffff;
    }
    return implode("\n", $rows) . "\nNo. $mark\n";
}

$desk = new Desk();
$began = microtime(true);
$units = 0;
$busy = 0.0;
$printed = 0;
while (microtime(true) - $began < @{seconds}) {
    $start = microtime(true);
    $printed += strlen(card($desk->free($units), $units));
    $units++;
    $busy += microtime(true) - $start;
    $rest = $began + $units / @{rate} - microtime(true);
    if ($rest > 0) {
        usleep((int)($rest * 1e6));
    }
}
file_put_contents("@{report}", json_encode(["units" => $units, "seconds" => $busy, "culprit" => $desk->waited]));
