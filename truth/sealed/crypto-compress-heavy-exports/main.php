<?php
// A feed of articles for price comparers: one process serves all that ask.

const SHOPS = @{shops};

function articles(int $shop): array
{
    $words = ['fine', 'large', 'blue', 'with lid', 'of steel', 'for two', 'new'];
    $all = [];
    mt_srand($shop);
    for ($i = 0; $i < @{rows} * 8; $i++) {
        $text = '';
        while (strlen($text) < @{width}) {
            $text .= $words[mt_rand(0, 6)] . ' ';
        }
        $all[] = ['id' => $shop * 100000 + $i, 'price' => mt_rand(100, 90000) / 100, 'stock' => mt_rand(0, 40), 'text' => $text];
    }
    return $all;
}

$shops = array_map('articles', range(0, SHOPS - 1));
$kept = [];

function @{fn}(int $shop): string
{
    global $shops, $kept;
    if (isset($kept[$shop]) && microtime(true) - $kept[$shop][0] < @{kept}) {
        return $kept[$shop][1];
    }
    $shops[$shop][mt_rand(0, count($shops[$shop]) - 1)]['stock']++;
    $body = gzencode(json_encode(['shop' => $shop, 'rows' => $shops[$shop]]), '@{effort}' === 'little' ? 1 : 9);
    $kept[$shop] = [microtime(true), $body];
    return $body;
}

function answer(string $request): string
{
    if (!preg_match('#^GET /exports/(\d+)#', $request, $found)) {
        return "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
    }
    $body = @{fn}((int) $found[1] % SHOPS);
    return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: " . strlen($body) . "\r\n\r\n" . $body;
}

if (@{kept} > 60) {
    for ($shop = 0; $shop < SHOPS; $shop++) {
        @{fn}($shop);
    }
}
$server = stream_socket_server('tcp://127.0.0.1:@{port}', $code, $message, STREAM_SERVER_BIND | STREAM_SERVER_LISTEN, stream_context_create(['socket' => ['backlog' => 128, 'tcp_nodelay' => true]]));
if (!$server) {
    exit("$message\n");
}
$lines = [];
$asked = [];
while (true) {
    $readable = [$server, ...$lines];
    $none = null;
    if (!stream_select($readable, $none, $none, null)) {
        continue;
    }
    foreach ($readable as $line) {
        if ($line === $server) {
            $line = stream_socket_accept($server);
            $lines[(int) $line] = $line;
            $asked[(int) $line] = '';
            continue;
        }
        $part = fread($line, 8192);
        if ($part === '' || $part === false) {
            unset($lines[(int) $line], $asked[(int) $line]);
            fclose($line);
            continue;
        }
        $asked[(int) $line] .= $part;
        while (($end = strpos($asked[(int) $line], "\r\n\r\n")) !== false) {
            $text = answer($asked[(int) $line]);
            $asked[(int) $line] = substr($asked[(int) $line], $end + 4);
            for ($sent = 0; $sent < strlen($text);) {
                $more = fwrite($line, substr($text, $sent));
                if (!$more) {
                    break;
                }
                $sent += $more;
            }
        }
    }
}
