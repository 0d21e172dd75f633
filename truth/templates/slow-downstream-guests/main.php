<?php
// The Wi-Fi portal of a hotel: "GET /login/N" lets guest N in, if the head office's RADIUS server knows the room. A process for each connection.
declare(strict_types=1);

final class Radius
{
    private const SECRET = 'bed and breakfast';
    private Socket $line;
    private int $number = 0;

    public function __construct()
    {
        $this->line = socket_create(AF_INET, SOCK_DGRAM, SOL_UDP);
        socket_connect($this->line, '127.0.0.1', @{radius});
        socket_set_option($this->line, SOL_SOCKET, SO_RCVTIMEO, ['sec' => 3, 'usec' => 0]);
    }

    public function @{fnCamel}(int $room): array
    {
        for ($attempt = 0; $attempt < 3; $attempt++) {
            $this->number = ($this->number + 1) % 256;
            $ticket = random_bytes(16);
            $user = "room-$room";
            $text = pack('CCa*CCC4', 1, strlen($user) + 2, $user, 4, 6, 127, 0, 0, 1);
            socket_write($this->line, pack('CCna16', 1, $this->number, 20 + strlen($text), $ticket) . $text);
            while (@socket_recv($this->line, $packet, 4096, 0)) {
                $seal = md5(substr($packet, 0, 4) . $ticket . substr($packet, 20) . self::SECRET, true);
                if (ord($packet[1]) === $this->number && substr($packet, 4, 16) === $seal) {
                    return ['open' => ord($packet[0]) === 2] + $this->contract(substr($packet, 20));
                }
            }
        }
        throw new RuntimeException("no answer for room $room");
    }

    private function contract(string $text): array
    {
        $names = [27 => 'seconds', 85 => 'kilobits'];
        $found = [];
        while ($text !== '') {
            ['kind' => $kind, 'length' => $length, 'value' => $value] = unpack('Ckind/Clength/Nvalue', $text);
            $found[$names[$kind] ?? $kind] = $value;
            $text = substr($text, $length);
        }
        return $found;
    }
}

final class Portal
{
    public function __construct(private Radius $radius)
    {
    }

    private function login(int $guest): array
    {
        $voucher = "guest $guest";
        for ($i = 0; $i < @{rounds}; $i++) {
            $voucher = hash('sha256', $voucher);
        }
        try {
            return ['200 OK', ['guest' => $guest, 'voucher' => substr($voucher, 0, 12)] + $this->radius->@{fnCamel}(100 + $guest % @{rooms})];
        } catch (RuntimeException $error) {
            return ['504 Gateway Timeout', ['error' => $error->getMessage()]];
        }
    }

    public function serve(Socket $guest): void
    {
        $ask = '';
        while (($piece = socket_read($guest, 8192)) !== false && $piece !== '') {
            $ask .= $piece;
            while (($end = strpos($ask, "\r\n\r\n")) !== false) {
                sscanf($ask, 'GET /login/%d', $number);
                $ask = substr($ask, $end + 4);
                [$status, $said] = $this->login((int) $number);
                $text = json_encode($said);
                socket_write($guest, "HTTP/1.1 $status\r\nContent-Type: application/json\r\nContent-Length: " . strlen($text) . "\r\n\r\n$text");
            }
        }
    }
}

function hear(): void
{
    $desk = stream_socket_client('tcp://127.0.0.1:@{notices}');
    stream_set_timeout($desk, 3600);
    $list = fopen('@{work}/housekeeping.txt', 'a');
    while (($line = fgets($desk)) !== false) {
        fwrite($list, $line);
    }
}

function beside(callable $work): void
{
    if (pcntl_fork() === 0) {
        $work();
        exit(0);
    }
}

pcntl_signal(SIGCHLD, SIG_IGN);
$door = socket_create(AF_INET, SOCK_STREAM, SOL_TCP);
socket_set_option($door, SOL_SOCKET, SO_REUSEADDR, 1);
if (!socket_bind($door, '127.0.0.1', @{port}) || !socket_listen($door, 64)) {
    exit(1);
}
if (@{desk} === 1) {
    beside('hear');
}
while ($guest = socket_accept($door)) {
    socket_set_option($guest, SOL_TCP, TCP_NODELAY, 1);
    beside(fn () => (new Portal(new Radius()))->serve($guest));
    socket_close($guest);
}
