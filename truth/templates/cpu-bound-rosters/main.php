<?php
// Imports lists of a club's members: who is known already, by mail address, is not taken again.
declare(strict_types=1);

final class Members
{
    public float $searching = 0.0;
    /** @var list<array{name: string, mail: string}> */
    private array $all = [];
    /** @var array<string, true> */
    private array $mails = [];

    public function take(array $member): void
    {
        $this->all[] = $member;
        $this->mails[strtolower($member['mail'])] = true;
    }

    private function @{fn}(string $mail): bool
    {
        if ('@{search}' === 'table') {
            return isset($this->mails[strtolower($mail)]);
        }
        foreach ($this->all as $member) {
            if (strcasecmp($member['mail'], $mail) === 0) {
                return true;
            }
        }
        return false;
    }

    public function import(array $list): int
    {
        $taken = 0;
        foreach ($list as $member) {
            $start = hrtime(true);
            $known = $this->@{fn}($member['mail']);
            $this->searching += (hrtime(true) - $start) / 1e9;
            // The members of this year are kept; guests are only counted.
            if (!$known && ++$taken % 10 === 0) {
                $this->take($member);
            }
        }
        return $taken;
    }
}

/** A list that somebody has sent: half of it is new. */
function list_of(int $number): array
{
    $list = [];
    for ($i = 0; $i < ($number === 0 ? @{base} : @{lines}); $i++) {
        $person = $number === 0 ? $i : ($number * 7919 + $i * 104729) % (2 * @{base});
        $list[] = ['name' => "Member $person", 'mail' => sprintf('Member.%06d@Rowing.example', $person)];
    }
    return $list;
}

$members = new Members();
foreach (list_of(0) as $member) {
    $members->take($member);
}
$begin = microtime(true);
$units = $taken = 0;
$busy = 0.0;
while (microtime(true) - $begin < @{seconds}) {
    $start = hrtime(true);
    $taken += $members->import(list_of(++$units));
    $busy += (hrtime(true) - $start) / 1e9;
    usleep((int) max(0, 1e6 * ($begin + $units / @{rate} - microtime(true))));
}
echo "$taken are new\n";
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $members->searching]));
