# Bills what was delivered: one invoice after the other, with the rate of its country on each line.
use strict;
use warnings;
use Digest::SHA qw(sha256);
use IO::Socket::INET;
use Socket qw(IPPROTO_TCP TCP_NODELAY);
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC sleep);

my $queue = '@{queue}';
my ($socket, %rates, @invoices);
my $asking = 0;

sub now { clock_gettime(CLOCK_MONOTONIC) }
sub short { pack 'C/a*', $_[0] }
sub long { pack 'N/a*', $_[0] }
sub frame { my ($kind, $channel, $payload) = @_; pack('CnN', $kind, $channel, length $payload) . $payload . "\xce" }
sub method { my ($channel, $class, $method, $arguments) = @_; frame(1, $channel, pack('nn', $class, $method) . $arguments) }

sub say_to_broker { syswrite($socket, $_[0]) // die "broker: $!" }

sub next_frame {
    read($socket, my $head, 7) == 7 or die "the broker is gone";
    my ($kind, $channel, $size) = unpack 'CnN', $head;
    read $socket, my $payload, $size + 1;
    return substr $payload, 0, $size;
}

sub consume { say_to_broker(method(1, 60, 20, "\0\0" . short($_[0]) . short($_[1]) . "\2" . long(''))); next_frame() }

sub open_broker {
    $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => @{port}) or die "broker: $!";
    setsockopt $socket, IPPROTO_TCP, TCP_NODELAY, 1;
    say_to_broker("AMQP\x00\x00\x09\x01");
    next_frame();
    say_to_broker(method(0, 10, 11, long('') . short('PLAIN') . long("\0guest\0guest") . short('en_US')));
    my $tune = next_frame();
    say_to_broker(method(0, 10, 31, substr($tune, 4, 6) . "\0\0") . method(0, 10, 40, short('/') . "\0\0"));
    next_frame();
    say_to_broker(method(1, 20, 10, "\0"));
    next_frame();
    consume('amq.rabbitmq.reply-to', 'answers');
    consume("$queue.invoices", 'invoices') if '@{feed}' eq 'pushed';
}

# A message from the broker: to whom it was delivered, and its text.
sub delivery {
    my $deliver = next_frame();
    next_frame();
    return (unpack('x4 C/a', $deliver), next_frame());
}

sub @{fn} {
    my ($country) = @_;
    return $rates{$country} if defined $rates{$country};
    my $text = "country=$country";
    my $properties = pack('nnNNn', 60, 0, 0, length $text, 0x0600) . short(++$asking) . short('amq.rabbitmq.reply-to');
    say_to_broker(method(1, 60, 40, "\0\0" . short('') . short($queue) . "\0") . frame(2, 1, $properties) . frame(3, 1, $text));
    while (1) {
        my ($to, $answer) = delivery();
        return $rates{$country} = $answer if $to eq 'answers';
        push @invoices, $answer;
    }
}

sub wait_for_invoice {
    my ($due) = @_;
    if ('@{feed}' eq 'pushed') {
        push @invoices, (delivery())[1] unless @invoices;
        return shift @invoices;
    }
    my $rest = $due - now();
    sleep $rest if $rest > 0;
}

open_broker();
my ($units, $busy, $culprit, $n) = (0, 0, 0, 0);
my $due = my $began = now();
while (now() - $began < @{seconds}) {
    my $start = now();
    my $total = 0;
    for my $line (1 .. @{lines}) {
        my $asked = now();
        my $rate = @{fn}($n++ % @{distinct});
        $culprit += now() - $asked;
        my $page = "$units/$line";
        $page = sha256($page) for 1 .. @{own_us} * 2 / @{lines};
        $total += $rate * unpack 'N', $page . "\0\0\0\0";
    }
    $units++;
    $busy += now() - $start;
    $due += @{period_ms} / 1000;
    wait_for_invoice($due);
}
open my $out, '>', '@{report}' or die $!;
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $culprit;
close $out;
