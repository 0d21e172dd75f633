<?php
// Books payments, one after the other; each is weighed before.

const ASK = 1, ANSWER = 3, SUBSCRIBE = 4;

function now(): float
{
    return hrtime(true) / 1e9;
}

function connect()
{
    return stream_socket_client("unix://@{work}/@{sock}") ?: exit(1);
}

function send($line, int $kind, int $number, array $values = []): void
{
    fwrite($line, pack("VCVg*", 5 + 4 * count($values), $kind, $number, ...$values));
}

function exactly($line, int $size): string
{
    $bytes = "";
    while (strlen($bytes) < $size) {
        $part = fread($line, $size - strlen($bytes));
        if ($part === false || $part === "") {
            exit(1);
        }
        $bytes .= $part;
    }
    return $bytes;
}

function receive($line): array
{
    $size = unpack("V", exactly($line, 4))[1];
    $rest = exactly($line, $size);
    return [ord($rest), unpack("V", $rest, 1)[1], array_values(unpack("g*", substr($rest, 5)) ?: [])];
}

function @{fn}($line, int $number, array $features): float
{
    send($line, ASK, $number, $features);
    do {
        [$kind, $of, $values] = receive($line);
    } while ($kind !== ANSWER || $of !== $number);
    return $values[0];
}

function features(int $number, int $rules): array
{
    $start = now();
    $values = array_fill(0, @{fields}, 0.5);
    while (now() - $start < @{effort} / 1000) {
        foreach ($values as $key => $value) {
            $values[$key] = fmod($value * 31.7 + $number + $rules, 1000.0);
        }
    }
    return $values;
}

$line = connect();
$news = null;
if (@{news} > 0) {
    $news = connect();
    send($news, SUBSCRIBE, 0);
}
$began = now();
[$units, $busy, $waited, $rules] = [0, 0.0, 0.0, 0];
while (($start = now()) - $began < @{seconds}) {
    $features = features($units, $rules);
    $asked = now();
    @{fn}($line, $units, $features);
    $waited += now() - $asked;
    $units++;
    $busy += now() - $start;
    while (($rest = $began + $units / (@{rate} * 2) - now()) > 0) {
        if (!$news) {
            usleep((int) ($rest * 1e6));
            continue;
        }
        // Until the next is due, news may come.
        [$read, $write, $except] = [[$news], null, null];
        if (stream_select($read, $write, $except, 0, (int) ($rest * 1e6))) {
            $rules += count(receive($news)[2]);
        }
    }
}
file_put_contents("@{report}", json_encode(["units" => $units, "seconds" => $busy, "culprit" => $waited]));
