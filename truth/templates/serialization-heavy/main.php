<?php
function now(): float {
    return hrtime(true) / 1e9;
}

function wait_until(float $due): void {
    $rest = $due - now();
    if ($rest > 0) {
        usleep((int)($rest * 1e6));
    }
}

function report(int $units, float $busy, float $culprit): void {
    file_put_contents("@{report}", json_encode(["units" => $units, "seconds" => $busy, "culprit" => $culprit]));
}

final class Session
{
    public array $values = [];
    public ?string $stored = null;

    public function __construct(public int $user)
    {
        for ($i = 0; $i < @{width}; $i++) {
            $this->values["key $i"] = [$user, "page/$i", $user / 3];
        }
    }
}

$sessions = [];
for ($i = 0; $i < @{entries}; $i++) {
    $sessions[$i] = new Session($i);
}

function @{fn}(array $sessions): int
{
    $text = serialize($sessions);
    return count(unserialize($text));
}

[$units, $busy, $culprit, $began] = [0, 0.0, 0.0, now()];
while (now() - $began < @{seconds}) {
    $start = now();
    $who = $units * 17 % @{entries};
    $sessions[$who]->values["last"] = $units;
    $changed = @{used} == @{entries} ? $sessions : array_slice($sessions, min($who, @{entries} - @{used}), @{used});
    $before = now();
    @{fn}($changed);
    $culprit += now() - $before;
    $units++;
    $busy += now() - $start;
    wait_until($began + $units / @{rate});
}
report($units, $busy, $culprit);
