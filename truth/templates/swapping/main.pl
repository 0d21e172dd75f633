# Holds the profiles of all members; a member that comes gets a page made of some of them. Members come through a socket.
use strict;
use warnings;
use Time::HiRes qw(time sleep);
use Socket;
use IO::Handle;
use Digest::MD5 qw(md5);

my $SIZE = @{kb} * 1024;
open(my $group, '>', '/sys/fs/cgroup/memory/@{slice}/cgroup.procs') or die "group: $!";
print $group $$;
close($group) or die "group: $!";

socketpair(my $desk, my $door, AF_UNIX, SOCK_STREAM, PF_UNSPEC) or die;
my $child = fork() // die;
if (!$child) {
    # The members: each asks, and waits for the page.
    close($desk);
    $door->autoflush(1);
    srand(5);
    my $due = time;
    while (1) {
        print $door join(' ', map { int(rand(1e9)) } 1 .. @{touches}), "\n" or exit 0;
        defined(<$door>) or exit 0;
        $due += 1 / @{per_s};
        $due = time if $due < time;
        sleep($due - time) if $due > time;
    }
}
close($door);
$desk->autoflush(1);

my @profiles;
push @profiles, chr(65 + @profiles % 26) x $SIZE while @profiles < @{heap_mb} * 1024 * 1024 / $SIZE;
my $hot = int(@{hot_mb} * 1024 * 1024 / $SIZE);
$hot = @profiles if $hot > @profiles;
my ($spent, $busy, $units) = (0, 0, 0);

sub @{fn} {
    my $start = time;
    my $page = '';
    for my $number (@_) {
        my $at = $number % $hot;
        substr($profiles[$at], 0, 1) = chr(97 + $number % 26);
        for (my $place = 0; $place < $SIZE; $place += 2048) {
            $page .= substr($profiles[$at], $place, 2);
        }
    }
    $spent += time - $start;
    return $page;
}

if ($hot < @profiles / 3) {
    @{fn}(0 .. $hot - 1);
    $spent = 0;
}

my $end = time + @{seconds};
while (time < $end and defined(my $member = <$desk>)) {
    my $start = time;
    my $page = @{fn}(split ' ', $member);
    $page = md5($page) . $page for 1 .. @{rounds};
    $busy += time - $start;
    $units++;
    print $desk length($page), "\n";
}
close($desk);
waitpid($child, 0);
open(my $out, '>', '@{report}') or die;
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $spent;
close($out);
