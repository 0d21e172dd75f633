<?php
// As site.c, in PHP, which has no threads: site.php PORT FOLDER KIND does one kind. The lock is of a file, held by another process.

function heron_tally()
{
    $sum = 1;
    for ($at = 0; $at < 1000000; $at++) { // SITE compute heron_tally
        $sum = ($sum * 31 + $at) % 1000003; // SITE compute heron_tally
    }
    return $sum;
}

function otter_latch($file)
{
    flock($file, LOCK_EX); // SITE lock otter_latch
    flock($file, LOCK_UN);
}

function finch_flush($file)
{
    fseek($file, 0);
    fwrite($file, str_repeat("x", 1 << 22)); // SITE file finch_flush
    fdatasync($file); // SITE file finch_flush
}

function badger_ask($peer)
{
    fwrite($peer, "?");
    $answer = fread($peer, 16); // SITE peer badger_ask
    if ($answer === "" || $answer === false) {
        exit(0);
    }
}

function newt_doze()
{
    usleep(50000); // SITE timer newt_doze
}

function near_caller($of, $with)
{
    $of(...$with);
}

function far_caller($of, $with)
{
    near_caller($of, $with);
}

[, $port, $folder, $kind] = $argv;
$works = [
    "compute" => ["heron_tally"],
    "lock" => ["otter_latch", fopen("$folder/lock", "c+")],
    "file" => ["finch_flush", fopen("$folder/file", "c+")],
    "peer" => ["badger_ask", $kind === "peer" ? stream_socket_client("tcp://127.0.0.1:$port") : null],
    "timer" => ["newt_doze"],
];
$with = $works[$kind];
$of = array_shift($with);
echo $kind, " ", getmypid(), "\n";
while (true) {
    far_caller($of, $with);
    if ($kind === "lock") {
        usleep(5000); // SITE rest main
    }
}
