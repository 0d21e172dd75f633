<?php
// The mailing skips those who have signed off: who is left is in a set.
$store = stream_socket_client('tcp://127.0.0.1:@{store}');
$spent = 0.0;

function call($store, float &$spent, string ...$words): array|string
{
    $began = hrtime(true);
    $text = '*' . count($words) . "\r\n";
    foreach ($words as $word) {
        $text .= '$' . strlen($word) . "\r\n$word\r\n";
    }
    fwrite($store, $text);
    $head = fgets($store);
    $answer = $head;
    if ($head[0] === '*') {
        $answer = [];
        for ($n = (int)substr($head, 1); $n > 0; $n--) {
            fgets($store);
            $answer[] = rtrim(fgets($store));
        }
    }
    $spent += (hrtime(true) - $began) / 1e9;
    return $answer;
}

function @{fn}($store, float &$spent, int $user): bool
{
    if (@{whole} === 0) {
        return call($store, $spent, 'SISMEMBER', 'subscribers', "user-$user") === ":1\r\n";
    }
    $members = call($store, $spent, 'SMEMBERS', @{whole} === 1 ? 'subscribers' : 'sessions:u' . $user % 997);
    return in_array("user-$user", $members, true);
}

$began = hrtime(true) / 1e9;
[$units, $busy] = [0, 0.0];
while (hrtime(true) / 1e9 - $began < @{seconds}) {
    $start = hrtime(true);
    $seal = @{fn}($store, $spent, $units * 7) ? 'mail' : 'skip';
    for ($i = 0; $i < @{rounds}; $i++) {
        $seal = sha1($seal);
    }
    $units++;
    $busy += (hrtime(true) - $start) / 1e9;
    $rest = $began + $units / @{pace} - hrtime(true) / 1e9;
    if ($rest > 0) {
        usleep((int)($rest * 1e6));
    }
}
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $spent]));
