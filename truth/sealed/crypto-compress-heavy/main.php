<?php
function now(): float {
    return hrtime(true) / 1e9;
}

function wait_until(float $due): void {
    $rest = $due - now();
    if ($rest > 0) {
        usleep((int)($rest * 1e6));
    }
}

function report(int $units, float $busy, float $culprit): void {
    file_put_contents("@{report}", json_encode(["units" => $units, "seconds" => $busy, "culprit" => $culprit]));
}

class Tokens
{
    private array $keys = [];
    public float $deriving = 0;

    private function @{fn}(string $tenant): string
    {
        $start = now();
        $key = hash_pbkdf2("sha512", "secret of $tenant", "salt-4711", @{turns}, 64, true);
        $this->deriving += now() - $start;
        return $key;
    }

    public function sign(string $tenant, string $claims): string
    {
        if (@{again}) {
            $key = $this->@{fn}($tenant);
        } else {
            $key = $this->keys[$tenant] ??= $this->@{fn}($tenant);
        }
        return base64_encode($claims) . "." . hash_hmac("sha256", $claims, $key);
    }
}

$tokens = new Tokens();
$tenants = ["north", "south", "harbour"];
foreach ($tenants as $tenant) {
    $tokens->sign($tenant, "{}");
}
$tokens->deriving = 0;
[$units, $busy, $began] = [0, 0.0, now()];
while (now() - $began < @{seconds}) {
    $start = now();
    $tokens->sign($tenants[$units % 3], json_encode(["sub" => $units, "exp" => time() + 600]));
    $units++;
    $busy += now() - $start;
    wait_until($began + $units / @{rate});
}
report($units, $busy, $tokens->deriving);
