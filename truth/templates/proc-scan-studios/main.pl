# What the renderers of a studio have used, for its accounts: GET /usage/STUDIO. One loop serves all connections.
use strict;
use warnings;
use IO::Select;
use IO::Socket::INET;
use Socket qw(IPPROTO_TCP TCP_NODELAY);
use Time::HiRes qw(time);

my $census_every = @{census};
my ($census, $taken) = ({}, 0);

# Adds what a process has used to the sum of its studio, if it is a renderer and still there.
sub count_in {
    my ($pid, $sums) = @_;
    open my $file, '<', "/proc/$pid/stat" or return;
    my $line = <$file>;
    close $file;
    return unless defined $line && $line =~ /\(render s(\d+)\) (.*)/;
    my ($studio, @fields) = ($1 + 0, split / /, $2);
    my $sum = $sums->{$studio} //= {renderers => 0, ticks => 0, pages => 0};
    $sum->{renderers}++;
    $sum->{ticks} += $fields[11] + $fields[12];
    $sum->{pages} += $fields[21];
}

sub @{fn} {
    my %sums;
    opendir my $processes, '/proc' or die "processes: $!";
    while (defined(my $pid = readdir $processes)) {
        count_in($pid, \%sums) if $pid =~ /^\d+$/;
    }
    closedir $processes;
    return \%sums;
}

sub listed {
    my ($studio) = @_;
    my %sums;
    open my $list, '<', "@{work}/studios/$studio" or return {};
    while (my $pid = <$list>) {
        chomp $pid;
        count_in($pid, \%sums);
    }
    close $list;
    return \%sums;
}

sub usage_of {
    my ($studio) = @_;
    my $sums = '@{usage}' eq 'all' ? @{fn}() : '@{usage}' eq 'census' ? $census : listed($studio);
    my $sum = $sums->{$studio} // {renderers => 0, ticks => 0, pages => 0};
    return sprintf '{"studio":%d,"renderers":%d,"seconds":%.2f,"mb":%d}', $studio, $sum->{renderers}, $sum->{ticks} / 100, $sum->{pages} / 256;
}

sub answer {
    my ($head) = @_;
    my ($status, $body) = ('404 Not Found', '');
    ($status, $body) = ('200 OK', usage_of($1 % @{studios} + 1)) if $head =~ m{^GET /usage/(\d+) };
    return "HTTP/1.1 $status\r\nContent-Type: application/json\r\nContent-Length: " . length($body) . "\r\n\r\n$body";
}

$SIG{PIPE} = 'IGNORE';
my $door = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => @{port}, Listen => 64, ReuseAddr => 1) or die "door: $!";
my $ears = IO::Select->new($door);
my %heard;
while (1) {
    if ($census_every > 0 && time - $taken >= $census_every) {
        ($census, $taken) = (@{fn}(), time);
    }
    for my $ear ($ears->can_read(0.5)) {
        if ($ear == $door) {
            my $guest = $door->accept or next;
            setsockopt $guest, IPPROTO_TCP, TCP_NODELAY, 1;
            $ears->add($guest);
            $heard{$guest} = '';
            next;
        }
        my $got = sysread $ear, $heard{$ear}, 8192, length $heard{$ear};
        if (!$got) {
            $ears->remove($ear);
            delete $heard{$ear};
            close $ear;
            next;
        }
        while ($heard{$ear} =~ s/^(.*?)\r\n\r\n//s) {
            syswrite $ear, answer($1);
        }
    }
}
