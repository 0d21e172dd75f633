# As site.c, in Perl, here without threads: site.pl PORT FOLDER KIND does one kind. The lock is of a file, held by another process.
use strict;
use warnings;
use Fcntl qw(:flock :seek);
use IO::Handle;
use IO::Socket::INET;
use Time::HiRes;

sub heron_tally {
    my $sum = 1;
    my $at = 0;
    while ($at < 1000000) { # SITE compute heron_tally
        $sum = ($sum * 31 + $at) % 1000003; # SITE compute heron_tally
        $at += 1; # SITE compute heron_tally
    }
    return $sum;
}

sub otter_latch {
    my ($file) = @_;
    flock($file, LOCK_EX); # SITE lock otter_latch
    flock($file, LOCK_UN);
}

sub finch_flush {
    my ($file) = @_;
    sysseek($file, 0, SEEK_SET);
    syswrite($file, "x" x (1 << 22)); # SITE file finch_flush
    $file->sync; # SITE file finch_flush
}

sub badger_ask {
    my ($peer) = @_;
    syswrite($peer, "?");
    my $got = sysread($peer, my $answer, 16); # SITE peer badger_ask
    exit 0 unless $got;
}

sub newt_doze {
    Time::HiRes::usleep(50000); # SITE timer newt_doze
    return 50;
}

sub near_caller {
    my ($of, @with) = @_;
    $of->(@with);
    return 1;
}

sub far_caller {
    my ($of, @with) = @_;
    near_caller($of, @with);
    return 1;
}

my ($port, $folder, $kind) = @ARGV;
open(my $file, "+>", "$folder/file") or die;
open(my $lock, "+>>", "$folder/lock") or die;
my $peer = $kind eq "peer" ? IO::Socket::INET->new("127.0.0.1:$port") : undef;
my %works = (
    compute => [\&heron_tally],
    lock => [\&otter_latch, $lock],
    file => [\&finch_flush, $file],
    peer => [\&badger_ask, $peer],
    timer => [\&newt_doze],
);
my ($of, @with) = @{ $works{$kind} };
$| = 1;
print "$kind $$\n";
while (1) {
    far_caller($of, @with);
    Time::HiRes::usleep(5000) if $kind eq "lock"; # SITE rest main
}
