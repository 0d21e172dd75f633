# Answers claims: the policy that a claim is about is looked up in the archive. Claims come from a child, through a pipe.
use strict;
use warnings;
use Time::HiRes qw(time sleep);
use Digest::MD5 qw(md5_hex);
use IO::Handle;

my $RECORD = @{kb} * 1024;
my ($spent, $busy, $units) = (0, 0, 0);

pipe(my $claims, my $desk) or die;
my $child = fork() // die;
if (!$child) {
    close($claims);
    $desk->autoflush(1);
    $SIG{PIPE} = sub { exit 0 };
    srand(23);
    my $due = time;
    while (1) {
        print $desk join(' ', map { int(rand(1e9)) } 1 .. @{reads}), "\n";
        $due += 1 / @{per_s};
        $due = time if $due < time;
        sleep($due - time) if $due > time;
    }
}
close($desk);

open(my $archive, '<:raw', '@{work}/@{disk}/@{data}') or die "@{data}: $!";
my $records = int((-s $archive) / $RECORD);
$records = @{spread} if $records > @{spread};

sub @{fn} {
    my ($policy) = @_;
    my $start = time;
    sysseek($archive, ($policy % $records) * $RECORD, 0);
    sysread($archive, my $text, $RECORD) == $RECORD or die;
    $spent += time - $start;
    return $text;
}

my $end = time + @{seconds};
while (time < $end and defined(my $claim = <$claims>)) {
    my $start = time;
    my $mark = '';
    for my $policy (split ' ', $claim) {
        my $text = @{fn}($policy);
        $mark = md5_hex($mark . $text) for 1 .. @{rounds};
    }
    $busy += time - $start;
    $units++;
}
close($claims);
waitpid($child, 0);
open(my $out, '>', '@{report}') or die;
printf $out '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $spent;
close($out);
