<?php
// Prints copies: a front, and behind it a filter, and behind that one who knows the scanner.
if (($argv[1] ?? '') === 'scan') {
    $orders = fopen('orders', 'w');
    $pages = fopen('@{fifo}', 'r');
    while (($line = fgets(STDIN)) !== false) {
        fwrite($orders, $line);
        fwrite(STDOUT, fgets($pages));
    }
    exit(0);
}

function program(string $what): array
{
    $process = proc_open([PHP_BINARY, __FILE__, $what], [['pipe', 'r'], ['pipe', 'w']], $pipes);
    return [$pipes[0], $pipes[1], $process];
}

function @{fn}(array $program, string $text): string
{
    fwrite($program[0], $text . "\n");
    return trim(fgets($program[1]));
}

if (($argv[1] ?? '') === 'filter') {
    $scan = program('scan');
    while (($line = fgets(STDIN)) !== false) {
        $page = @{fn}($scan, trim($line));
        $start = microtime(true);
        $text = $page;
        while (microtime(true) - $start < @{effort} / 1000) {
            $text = strrev($text);
        }
        fwrite(STDOUT, $page . "\n");
    }
    exit(0);
}

$filter = program('filter');
[$began, $units, $busy, $culprit] = [microtime(true), 0, 0.0, 0.0];
while (microtime(true) - $began < @{seconds}) {
    $start = microtime(true);
    @{fn}($filter, "copy$units");
    $units++;
    $took = microtime(true) - $start;
    $busy += $took;
    $culprit += max(0, $took - @{effort} / 1000);
    usleep((int)max(1, @{every} * 1000 - $took * 1e6));
}
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy, 'culprit' => $culprit]));
fclose($filter[0]);
