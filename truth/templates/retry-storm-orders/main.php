<?php
// Prices the orders of the day, one after the other; a tariff that cannot be had is taken from the list of last year.

function now(): float
{
    return hrtime(true) / 1e9;
}

class Tariffs
{
    private $line = null;
    private array $failures = [];
    private array $closedUntil = [];
    public float $lost = 0.0;

    private function fetch(string $path): ?string
    {
        $start = now();
        if (!$this->line) {
            $this->line = stream_socket_client("tcp://127.0.0.1:@{port}", $code, $text, 1.0);
            if (!$this->line) {
                return null;
            }
            stream_set_timeout($this->line, 0, @{limit} * 1000);
        }
        fwrite($this->line, "GET $path HTTP/1.1\r\nHost: tariffs\r\nUser-Agent: pricing/3\r\nAccept: application/json\r\n\r\n");
        $length = null;
        while (($head = fgets($this->line)) !== false && trim($head) !== "") {
            if (stripos($head, "content-length:") === 0) {
                $length = (int) substr($head, 15);
            }
        }
        $body = $length === null ? null : stream_get_contents($this->line, $length);
        if ($body === null || strlen($body) !== $length) {
            // Too late: what comes on this line now would be the answer to another question.
            fclose($this->line);
            $this->line = null;
            $this->lost += now() - $start;
            return null;
        }
        return $body;
    }

    private function request(string $path): ?string
    {
        for ($try = 0; $try < @{tries}; $try++) {
            if (($body = $this->fetch($path)) !== null) {
                return $body;
            }
        }
        return null;
    }

    public function @{fnCamel}(int $region, int $order): int
    {
        if (($this->closedUntil[$region] ?? 0) > now()) {
            return 499;
        }
        for ($round = 0; $round < @{rounds}; $round++) {
            $body = $this->request("/tariff/region-$region/orders/$order");
            if ($body !== null) {
                $this->failures[$region] = 0;
                return json_decode($body, true)["cents"];
            }
            $this->failures[$region] = ($this->failures[$region] ?? 0) + 1;
            if ($this->failures[$region] >= @{breaker}) {
                $this->closedUntil[$region] = now() + 1.5;
                break;
            }
        }
        return 499;
    }

    public function progress(): void
    {
        $this->fetch("/progress/day-close");
    }
}

function bill(int $order, int $cents): string
{
    $start = now();
    $seal = "$order:$cents";
    while (now() - $start < @{effort} / 1000) {
        $seal = hash("sha256", $seal);
    }
    return $seal;
}

$tariffs = new Tariffs();
$began = now();
[$units, $busy] = [0, 0.0];
while (($start = now()) - $began < @{seconds}) {
    bill($units, $tariffs->@{fnCamel}($units % @{regions}, 70000 + $units));
    $units++;
    $busy += now() - $start;
    while (($rest = $began + $units / (@{rate} * 2) - now()) > 0) {
        if (@{poll}) {
            $tariffs->progress();
            $rest = min($rest, @{poll} / 1000);
        }
        usleep((int) ($rest * 1e6));
    }
}
file_put_contents("@{report}", json_encode(["units" => $units, "seconds" => $busy, "culprit" => $tariffs->lost]));
