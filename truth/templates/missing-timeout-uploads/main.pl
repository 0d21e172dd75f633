# Takes in what citizens upload: files are handed to clerks (children), who ask a scanner and say by a pipe what they did.
use strict;
use warnings;
use IO::Select;
use IO::Socket::INET;
use Socket qw(IPPROTO_TCP TCP_NODELAY);
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

use constant {LANES => @{lanes}, LIMIT => @{limit}, BYTES => @{bytes}};
my @scanners = (@{east}, @{west});
my %line;

sub now { return clock_gettime(CLOCK_MONOTONIC) }

sub line_to {
    my ($scanner) = @_;
    return $line{$scanner} //= do {
        my $new = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $scanners[$scanner], Proto => 'tcp') or die "scanner $scanner: $!\n";
        $new->setsockopt(IPPROTO_TCP, TCP_NODELAY, 1);
        $new;
    };
}

# The scanner's answer to a file, or undef.
sub @{fn} {
    my ($scanner, $content) = @_;
    my $line = line_to($scanner);
    my ($message, $answer) = ("INSTREAM\n" . pack('N/a* N', $content, 0), '');
    while (length $message) {
        my $sent = syswrite $line, $message;
        last unless $sent;
        substr $message, 0, $sent, '';
    }
    while ($answer !~ /\n\z/) {
        last if LIMIT > 0 && !IO::Select->new($line)->can_read(LIMIT);
        sysread($line, $answer, 512, length $answer) or last;
    }
    return $answer if $answer =~ /\n\z/;
    close delete $line{$scanner};
    return undef;
}

sub content {
    my ($number) = @_;
    my @words = qw(certificate of residence for the second district issued by the office of records on request number);
    my $text = join ' ', map { $words[($number + $_ * $_) % @words] } 1 .. 200;
    return substr $text x (1 + BYTES / length $text), 0, BYTES;
}

sub clerk {
    my ($lane, $files, $diary) = @_;
    my %register;
    while (sysread $files, my $packed, 4) {
        my $number = unpack 'N', $packed;
        my ($start, $lost) = (now(), 0);
        syswrite $diary, "$lane begins $start\n";
        my ($content, $turn, $answer) = (content($number), $number);
        until (defined($answer = @{fn}($turn % 2, $content))) {
            $lost += now() - $start;
            $turn++;
        }
        $register{$number} = $answer =~ /^stream: OK (\w+)/ ? $1 : 'quarantine';
        syswrite $diary, sprintf "%d ends %f %f\n", $lane, now() - $start, $lost;
    }
    exit 0;
}

sub bulletin {
    my $line = line_to(0);
    syswrite $line, "VERSIONS\n";
    1 while sysread $line, my $news, 512;
    exit 0;
}

pipe my $files, my $hand or die $!;
pipe my $read, my $diary or die $!;
my @children;
for my $lane (1 .. LANES) {
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        close $hand;
        clerk($lane, $files, $diary);
    }
    push @children, $pid;
}
if (@{bulletin}) {
    my $pid = fork // die "fork: $!\n";
    bulletin() unless $pid;
    push @children, $pid;
}
close $diary;

my ($units, $busy, $lost, $number, %since) = (0, 0, 0, 0);
my ($select, $text, $begun) = (IO::Select->new($read), '', now());
my $end = $begun + @{seconds};
while (now() < $end) {
    syswrite $hand, pack 'N', ++$number;
    my $due = $begun + $number / @{rate};
    while ((my $rest = $due - now()) > 0) {
        next unless $select->can_read($rest);
        sysread $read, $text, 65536, length $text;
        while ($text =~ s/^(\d+) (\w+) (\S+) ?(\S*)\n//) {
            if ($2 eq 'begins') {
                $since{$1} = $3;
                next;
            }
            delete $since{$1};
            $units++;
            $busy += $3;
            $lost += $4;
        }
    }
}
my $hanging = 0;
$hanging += now() - $_ for values %since;
open my $out, '>', '@{report}' or die $!;
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy + $hanging, $lost + $hanging;
close $out or die $!;
kill TERM => @children;
waitpid $_, 0 for @children;
