<?php
// Sessions of a shop: each visitor's process reads the session, works, and writes it.
function @{fn}(int $visitor): float
{
    $file = fopen('@{lockfile}', 'c+');
    $start = hrtime(true);
    flock($file, LOCK_EX);
    $waited = (hrtime(true) - $start) / 1e9;
    $session = json_decode(stream_get_contents($file), true);
    $session = is_array($session) ? $session : [];
    $session[$visitor] = ($session[$visitor] ?? 0) + 1;
    if (@{keep}) {
        usleep((int)(@{keep} * 1000));
    }
    ftruncate($file, 0);
    rewind($file);
    fwrite($file, json_encode($session));
    fflush($file);
    flock($file, LOCK_UN);
    fclose($file);
    return $waited;
}

function visit(int $visitor, float $began): array
{
    [$units, $busy, $waited] = [0, 0.0, 0.0];
    while (microtime(true) - $began < @{seconds}) {
        $start = hrtime(true);
        $waited += @{fn}($visitor);
        $page = hrtime(true);
        while (hrtime(true) - $page < @{effort} * 1e6) {
            htmlspecialchars("<b>$visitor</b>");
        }
        $units++;
        $busy += (hrtime(true) - $start) / 1e9;
        $rest = $units / @{pace} + $visitor * 0.02 - (microtime(true) - $began);
        if ($rest > 0) {
            usleep((int)($rest * 1e6));
        }
    }
    return [$units, $busy, $waited];
}

$began = microtime(true);
$leaders = $children = [];
for ($i = 0; $i < 2 * @{standby}; $i++) {
    $pid = pcntl_fork();
    if (!$pid) {
        flock($file = fopen('leader.pid', 'r'), LOCK_EX);
        while (true) {
            sleep(5);
        }
    }
    $leaders[] = $pid;
}
for ($visitor = 0; $visitor < @{workers}; $visitor++) {
    $pair = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    if (!pcntl_fork()) {
        fwrite($pair[1], json_encode(visit($visitor, $began)) . "\n");
        exit(0);
    }
    fclose($pair[1]);
    $children[] = $pair[0];
}
$sum = [0, 0.0, 0.0];
ini_set('default_socket_timeout', '120');
foreach ($children as $child) {
    stream_set_timeout($child, 120);
    foreach (json_decode(fgets($child)) as $i => $value) {
        $sum[$i] += $value;
    }
}
foreach ($leaders as $pid) {
    posix_kill($pid, SIGTERM);
}
file_put_contents('@{report}', json_encode(['units' => $sum[0], 'seconds' => $sum[1], 'culprit' => $sum[2]]));
