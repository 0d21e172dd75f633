<?php
// The gate of a fair: a badge for each visitor. A process for each gate; the renderer is another one, and puts the badges into a folder.
declare(strict_types=1);

const SPOOL = '@{work}/@{spool}';
const SIDE = @{sides};
const IS_TOLD = '@{wait}' === 'told';

/** A pattern that the gates' cameras read: cells that follow from their neighbours. */
function drawn(int $visitor): string
{
    $row = [];
    for ($i = 0; $i < SIDE; $i++) {
        $row[$i] = $visitor >> $i % 24 & 1;
    }
    $lines = [];
    for ($y = 1; $y < SIDE; $y++) {
        $below = [];
        for ($x = 0; $x < SIDE; $x++) {
            $below[$x] = $row[($x + SIDE - 1) % SIDE] ^ ($row[$x] | $row[($x + 1) % SIDE]);
        }
        $lines[] = implode('', $row = $below);
    }
    return implode("\n", $lines);
}

function render(array $orders): never
{
    while (true) {
        $ready = $orders;
        $none = null;
        stream_select($ready, $none, $none, null);
        foreach ($ready as $gate) {
            if (($line = fgets($gate)) === false) {
                exit(0);
            }
            [$name, $visitor] = explode(' ', trim($line));
            file_put_contents(SPOOL . "/$name.part", drawn((int) $visitor));
            rename(SPOOL . "/$name.part", SPOOL . "/$name");
            if (IS_TOLD) {
                fwrite($gate, "$name\n");
            }
        }
    }
}

function @{fn}($orders, string $name): string
{
    $path = SPOOL . "/$name";
    if (IS_TOLD) {
        fgets($orders);
    } else {
        while (!file_exists($path)) {
            clearstatcache();
            usleep((int) (@{pause} * 1000));
        }
    }
    $badge = file_get_contents($path);
    unlink($path);
    return $badge;
}

function gate(int $number, $door, $orders): never
{
    $count = 0;
    while (true) {
        $client = @stream_socket_accept($door, 3600);
        if ($client === false) {
            continue;
        }
        while (($line = fgets($client)) !== false) {
            $visitor = (int) substr($line, strrpos($line, ' ') + 1);
            $name = sprintf('%d-%06d', $number, $count++);
            fwrite($orders, "$name $visitor\n");
            $badge = @{fn}($orders, $name);
            fwrite($client, sprintf("badge %d %08x %d\n", $visitor, crc32($badge), strlen($badge)));
        }
        fclose($client);
    }
}

@mkdir(SPOOL);
$context = stream_context_create(['socket' => ['backlog' => 64, 'tcp_nodelay' => true]]);
$door = stream_socket_server('tcp://127.0.0.1:@{port}', $code, $text, STREAM_SERVER_BIND | STREAM_SERVER_LISTEN, $context);
$orders = [];
// One more than there are visitors at once.
for ($number = 0; $number <= @{clients}; $number++) {
    [$mine, $theirs] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    if (pcntl_fork() === 0) {
        gate($number, $door, $theirs);
    }
    fclose($theirs);
    $orders[] = $mine;
}
if (pcntl_fork() === 0) {
    fclose($door);
    render($orders);
}
array_map('fclose', $orders);
while (true) {
    usleep((int) (@{tick} * 1000));
    if (pcntl_wait($status, WNOHANG) > 0) {
        exit(1);
    }
}
