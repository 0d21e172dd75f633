<?php
$context = stream_context_create(["socket" => ["backlog" => @{backlog}]]);
$listener = stream_socket_server("tcp://127.0.0.1:@{port}", $number, $text, STREAM_SERVER_BIND | STREAM_SERVER_LISTEN, $context) or exit(1);
stream_set_blocking($listener, false);
$log = [];

function @{fn}($client, array &$log): void
{
    stream_set_blocking($client, true);
    stream_set_timeout($client, 2);
    $ask = fgets($client);
    if ($ask !== false) {
        $log[] = $ask;
        fwrite($client, strtoupper($ask));
    }
    fclose($client);
}

while (true) {
    $readable = [$listener];
    $none = null;
    stream_select($readable, $none, $none, 5);
    while ($client = @stream_socket_accept($listener, 0)) {
        @{fn}($client, $log);
    }
    if (count($log) > 500) {
        $log = [];
    }
    if (@{tick}) {
        usleep(@{tick} * 1000);
    }
}
