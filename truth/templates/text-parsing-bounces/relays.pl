# The relays: each writes what becomes of its letters into a log, which is put aside when it has grown.
use strict;
use warnings;
use Time::HiRes qw(time sleep);

use constant {PIECE => 50, PIECES => 40, LIMIT => 12_000_000};
my @status = (('sent') x 24, ('deferred') x 3, 'bounced');
my @words = qw(host said mailbox queued as remote server greylisted try again later message accepted for delivery user over quota);

sub line {
    my ($relay, $number) = @_;
    my $status = $status[rand @status];
    my $answer = join ' ', map {$words[rand @words]} 1 .. @{words};
    return sprintf "2026-11-%02dT%02d:%02d:%02d.%03d+01:00 relay%d postfix/smtp[%d]: %010X: to=<guest%d\@d%d.example>, relay=mx%d.d%d.example[198.51.100.%d]:25, "
        . "delay=%.2f, delays=%.2f/%.2f/%.2f/%.2f, dsn=%s, status=%s (%s)\n",
        1 + rand 28, rand 24, rand 60, rand 60, rand 1000, $relay, 900 + rand 30000, $number * 7919, rand 90000, rand @{domains}, 1 + rand 3, rand @{domains},
        1 + rand 250, rand 9, rand 1, rand 1, rand 1, rand 6, {sent => '2.0.0', deferred => '4.7.1', bounced => '5.1.1'}->{$status}, $status, $answer;
}

srand 5;
my @pieces = map {my $piece = $_; join '', map {line(1 + $piece % @{relays}, $piece * PIECE + $_)} 1 .. PIECE} 0 .. PIECES - 1;
my @logs = map {{path => "@{work}/@{logs}/relay$_.log", size => 0, file => undef}} 1 .. @{relays};

sub begin {
    my ($log) = @_;
    rename $log->{path}, "$log->{path}.1" if $log->{file};
    open $log->{file}, '>', $log->{path} or die "$log->{path}: $!";
    $log->{size} = 0;
}

begin($_) for @logs;
open my $up, '>', '@{work}/relays.up' or die $!;
close $up;
my ($began, $written) = (time, 0);
while (getppid > 1) {
    my $due = (time - $began) * @{lines};
    if ($written + PIECE > $due) {
        sleep 0.01;
        next;
    }
    my $piece = $written / PIECE;
    my $log = $logs[$piece % @logs];
    syswrite $log->{file}, $pieces[$piece % PIECES];
    $log->{size} += length $pieces[$piece % PIECES];
    $written += PIECE;
    begin($log) if $log->{size} > LIMIT;
}
