# Prepares the nightly copies: which volumes are there, and how old is what is on them.
use strict;
use warnings;
use Digest::SHA qw(sha256_hex);
use Time::HiRes qw(time sleep);

# System calls of x86_64, and flags of mount.
my ($SYS_MOUNT, $SYS_UNSHARE) = (165, 272);
my ($BIND, $REC, $PRIVATE, $NEWNS) = (0x1000, 0x4000, 0x40000, 0x20000);
my $root = '@{work}/@{volumes}';
my $spent = 0;

sub bring_up {
    my ($none, $top) = ('none', '/');
    syscall($SYS_UNSHARE, $NEWNS) == 0 or die "unshare: $!";
    syscall($SYS_MOUNT, $none, $top, $none, $REC | $PRIVATE, 0) == 0 or die "private: $!";
    opendir(my $folder, $root) or die "$root: $!";
    my @paths = map { "$root/$_" } sort grep { !/^\./ } readdir $folder;
    for my $path (@paths) {
        my ($from, $to) = ($path, $path);
        syscall($SYS_MOUNT, $from, $to, $none, $BIND, 0) == 0 or die "$path: $!";
    }
    return @paths;
}

# What is mounted at a path.
sub @{fn} {
    my ($path) = @_;
    my $asked = time;
    my $found;
    open(my $table, '<', '/proc/self/mountinfo') or die "no table of mounts: $!";
    while (my $line = <$table>) {
        my ($id, $parent, $device, $from, $target) = split ' ', $line;
        $found = $device if $target eq $path;
    }
    close $table;
    $spent += time - $asked;
    return $found;
}

my @volumes = bring_up();
my %there = map { $_ => 1 } @volumes;
my %ages;

sub prepare {
    my ($job) = @_;
    for my $part (1 .. @{each}) {
        my $path = $volumes[($job * 31 + $part * 7) % @volumes];
        my $is_there = '@{table}' eq 'each' ? defined @{fn}($path) : $there{$path};
        if (!$is_there) {
            print "job $job: $path is not there\n";
            next;
        }
        my $changed = (stat $path)[9];
        my $seal = "$path $changed $job";
        $seal = sha256_hex($seal) for 1 .. @{effort} * 40;
        $ages{$path} = [time - $changed, $seal];
    }
}

my ($units, $busy, $began, $due) = (0, 0, time, time);
while (time - $began < @{seconds}) {
    $due += 1 / @{rate};
    my $rest = $due - time;
    $rest > 0 ? sleep($rest) : ($due = time);
    my $start = time;
    prepare($units);
    $busy += time - $start;
    $units++;
}
open(my $report, '>', '@{report}') or die $!;
printf $report '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $spent;
close $report;
