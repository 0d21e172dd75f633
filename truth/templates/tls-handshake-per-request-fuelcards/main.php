<?php
// The till of a filling station: each filling is granted by the card bank, and booked.
class Bank
{
    public float $joining = 0;
    private $line = null;
    private int $asked = 0;
    private string $print;

    public function __construct()
    {
        $this->print = openssl_x509_fingerprint(file_get_contents('@{work}/bank.pem'), 'sha256');
    }

    private function @{fnCamel}(): void
    {
        $start = hrtime(true);
        // The bank's own certificate is known: nobody else vouches for it.
        $context = stream_context_create([
            'ssl' => ['peer_fingerprint' => ['sha256' => $this->print], 'verify_peer' => false, 'verify_peer_name' => false],
            'socket' => ['tcp_nodelay' => true],
        ]);
        $this->line = stream_socket_client('tls://127.0.0.1:@{port}', $code, $text, 10, STREAM_CLIENT_CONNECT, $context);
        if (!$this->line) {
            throw new RuntimeException("the bank: $text");
        }
        $this->joining += (hrtime(true) - $start) / 1e9;
    }

    public function grants(string $card, int $cents): bool
    {
        if (!$this->line) {
            $this->@{fnCamel}();
        }
        fwrite($this->line, "GRANT $card $cents\n");
        $answer = fgets($this->line);
        if (++$this->asked % @{hold} == 0) {
            fclose($this->line);
            $this->line = null;
        }
        return str_starts_with((string)$answer, 'GRANTED');
    }
}

/** The last digit, by Luhn. */
function sealed(string $digits): string
{
    $sum = 0;
    foreach (str_split(strrev($digits)) as $at => $digit) {
        $twice = $digit * ($at % 2 ? 1 : 2);
        $sum += $twice > 9 ? $twice - 9 : $twice;
    }
    return $digits . (10 - $sum % 10) % 10;
}

$bank = new Bank();
$booked = array_fill(0, @{pumps}, 0);
$receipt = '';
$units = $busy = 0;
$began = hrtime(true);
while (hrtime(true) - $began < @{seconds} * 1e9) {
    $pump = mt_rand(0, @{pumps} - 1);
    $litres = mt_rand(500, 7000) / 100;
    $card = sealed(sprintf('70%012d', mt_rand(0, 2 ** 31 - 1)));
    $start = hrtime(true);
    $cents = (int)round($litres * (169.9 + $pump % 3 * 12));
    if ($bank->grants($card, $cents)) {
        $booked[$pump] += $cents;
        $receipt = sprintf('pump %2d  %6.2f l  %8.2f EUR  card ****%s', $pump, $litres, $cents / 100, substr($card, -4));
    }
    $busy += hrtime(true) - $start;
    $units++;
    $rest = $began + $units * 1e9 / @{rate} - hrtime(true);
    if ($rest > 0) {
        usleep((int)($rest / 1000));
    }
}
fwrite(STDERR, "$receipt\n");
file_put_contents('@{report}', json_encode(['units' => $units, 'seconds' => $busy / 1e9, 'culprit' => $bank->joining]));
