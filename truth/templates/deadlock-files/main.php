<?php
// Two importers share a table and its index, each with a file of its own to lock.
final class Held
{
    /** @var resource[] */
    private array $files = [];

    public function __construct(string ...$names)
    {
        foreach ($names as $name) {
            $file = fopen($name, 'c');
            flock($file, LOCK_EX);
            $this->files[] = $file;
            if (@{nap} && count($this->files) === 1) {
                usleep((int)(@{nap} * 1000));
            }
        }
    }

    public function __destruct()
    {
        foreach (array_reverse($this->files) as $file) {
            flock($file, LOCK_UN);
        }
    }
}

function @{fn}(array $names, string $done): void
{
    $held = new Held(...$names);
    $end = hrtime(true) + @{inside} * 1e6;
    $text = 'row';
    while (hrtime(true) < $end) {
        $text = md5($text);
    }
    file_put_contents($done, '.', FILE_APPEND);
}

$names = ['@{one}', '@{two}'];
$children = [];
foreach ([['done-a', $names, 3], ['done-b', @{order} ? $names : array_reverse($names), 4]] as [$done, $mine, $factor]) {
    $pid = pcntl_fork();
    if ($pid === 0) {
        while (true) {
            @{fn}($mine, $done);
            usleep((int)(@{gap} * 1000 * $factor));
        }
    }
    $children[] = $pid;
}
usleep((int)(@{seconds} * 1e6));
foreach ($children as $pid) {
    posix_kill($pid, SIGKILL);
}
file_put_contents('@{report}', json_encode(['units' => filesize('done-a') + filesize('done-b'), 'seconds' => @{seconds}]));
