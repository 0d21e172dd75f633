<?php
// A pharmacy's counter; a child of it has the list of drugs that must not go together.
const ASKED = 1, ANSWERED = 2;

final class Check
{
    public function __construct(private SysvMessageQueue $box)
    {
    }

    public function serve(): never
    {
        while (msg_receive($this->box, ASKED, $kind, 4096, $ask)) {
            msg_send($this->box, ANSWERED, ['number' => $ask['number'], 'worst' => $this->worst($ask['drugs'])]);
        }
        exit(0);
    }

    private function worst(array $drugs): int
    {
        $worst = 0;
        foreach ($drugs as $i => $drug) {
            $other = $drugs[$i > 0 ? $i - 1 : count($drugs) - 1];
            for ($third = 0; $third < @{drugs}; $third++) {
                $worst = max($worst, ($drug * 31 + $third * 17) % 101 * (($other * 13 + $third * 7) % 89));
            }
        }
        return $worst;
    }
}

final class Counter
{
    public int $units = 0;
    public float $busy = 0.0, $waited = 0.0;
    private float $logged;

    public function __construct(private SysvMessageQueue $box, private $log)
    {
        $this->logged = microtime(true);
    }

    private function @{fnCamel}(): array
    {
        $how = '@{answer}' === 'look' ? MSG_IPC_NOWAIT : 0;
        while (!msg_receive($this->box, ANSWERED, $kind, 4096, $answer, true, $how, $error)) {
            if ($error !== MSG_ENOMSG) {
                throw new RuntimeException(posix_strerror($error));
            }
            usleep((int) (@{pause} * 1000));
        }
        return $answer;
    }

    public function prescription(string $line): void
    {
        $start = microtime(true);
        [$number, $rest] = explode(' ', trim($line), 2);
        msg_send($this->box, ASKED, ['number' => (int) $number, 'drugs' => array_map('intval', explode(' ', $rest))]);
        $before = microtime(true);
        $answer = $this->@{fnCamel}();
        $this->waited += microtime(true) - $before;
        echo "prescription $number: ", $answer['worst'] > 8500 ? 'ask the doctor' : 'hand over', "\n";
        $this->units++;
        $this->busy += microtime(true) - $start;
    }

    /** Waits for the next prescription, and keeps the log meanwhile. */
    public function next($prescriptions): ?string
    {
        while (true) {
            $ready = [$prescriptions];
            $none = null;
            if (stream_select($ready, $none, $none, intdiv(@{beat_ms}, 1000), @{beat_ms} % 1000 * 1000)) {
                $line = fgets($prescriptions);
                return $line === false ? null : $line;
            }
            fwrite($this->log, "{$this->units} prescriptions\n");
        }
    }
}

$key = getmypid();
$box = msg_get_queue($key, 0600);
$checker = pcntl_fork();
if ($checker === 0) {
    (new Check($box))->serve();
}
$close = function () use ($checker, $box) {
    posix_kill($checker, SIGTERM);
    pcntl_waitpid($checker, $status);
    msg_remove_queue($box);
};
pcntl_async_signals(true);
pcntl_signal(SIGTERM, function () use ($close) {
    $close();
    exit(1);
});
$counter = new Counter($box, fopen('@{work}/till.log', 'w'));
$began = microtime(true);
$prescriptions = fopen('@{work}/prescriptions', 'r');
while (microtime(true) - $began < @{seconds} && ($line = $counter->next($prescriptions)) !== null) {
    $counter->prescription($line);
}
file_put_contents('@{report}', json_encode(['units' => $counter->units, 'seconds' => $counter->busy, 'culprit' => $counter->waited]));
$close();
