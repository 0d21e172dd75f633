<?php
// A payroll: shows the heads of teams what a month of their people comes to.
declare(strict_types=1);

final class TimeClock
{
    private $line;

    public function __construct(string $address)
    {
        $context = stream_context_create(['socket' => ['tcp_nodelay' => true]]);
        $this->line = stream_socket_client($address, $code, $text, 5, STREAM_CLIENT_CONNECT, $context);
    }

    public function team(int $number): array
    {
        fwrite($this->line, "TEAM $number\n");
        return array_map('intval', array_slice($this->words(), 1));
    }

    /** The shifts of each: pairs of minutes, by member. */
    public function shifts(int ...$members): array
    {
        fwrite($this->line, 'SHIFTS ' . implode(',', $members) . "\n");
        $found = [];
        foreach ($members as $_) {
            $words = $this->words();
            $found[(int) $words[1]] = array_map(fn (string $word) => array_map('intval', explode('-', $word)), array_slice($words, 2));
        }
        return $found;
    }

    private function words(): array
    {
        $words = explode(' ', trim(fgets($this->line)));
        if ($words[0] !== 'OK') {
            throw new RuntimeException('the time clock does not know');
        }
        return $words;
    }
}

final class Payroll
{
    public function __construct(private TimeClock $clock)
    {
    }

    private function @{fnCamel}(array $members): array
    {
        if ('@{ask}' === 'all') {
            return $this->clock->shifts(...$members);
        }
        $found = [];
        foreach ($members as $member) {
            $found += $this->clock->shifts($member);
        }
        return $found;
    }

    /** What shifts are worth: what is after eight in the evening or beyond eight hours counts more. */
    private function cents(int $member, array $shifts): int
    {
        $wage = 1400 + $member % 37 * 40;
        $minutes = 0.0;
        foreach ($shifts as [$from, $to]) {
            for ($minute = $from; $minute < $to; $minute += 2) {
                $minutes += 2 * ($minute % 1440 > 1200 ? 1.25 : 1) * ($minute - $from > 480 ? 1.5 : 1);
            }
        }
        return (int) round($minutes * $wage / 60);
    }

    public function month(int $team): string
    {
        $shifts = $this->@{fnCamel}($this->clock->team($team));
        $total = 0;
        foreach ($shifts as $member => $worked) {
            $total += $this->cents($member, $worked);
        }
        return sprintf("team %d: %d members, %.2f\n", $team, count($shifts), $total / 100);
    }
}

$context = stream_context_create(['socket' => ['tcp_nodelay' => true, 'backlog' => 64]]);
$door = stream_socket_server('tcp://127.0.0.1:@{port}', $code, $text, STREAM_SERVER_BIND | STREAM_SERVER_LISTEN, $context);
pcntl_signal(SIGCHLD, SIG_IGN);
while (true) {
    $head = @stream_socket_accept($door, 3600);
    if ($head === false || pcntl_fork() !== 0) {
        continue;
    }
    fclose($door);
    $payroll = new Payroll(new TimeClock('tcp://127.0.0.1:@{store}'));
    while (($line = fgets($head)) !== false) {
        fwrite($head, $payroll->month((int) substr($line, strrpos($line, ' ') + 1)));
    }
    exit(0);
}
