#!/usr/bin/perl
# Prints the badges of a congress at several counters, a process for each.
use strict;
use warnings;
use Digest::SHA;
use IO::Socket::INET;
use IPC::Open2;
use Socket qw(IPPROTO_TCP TCP_NODELAY);

my @guests = map { { number => $_, name => sprintf('Guest %s. %d', chr(65 + $_ % 26), $_ * 37 % 9973), hall => 1 + $_ % 12 } } 0 .. @{guests} - 1;

sub text_of {
    my ($guest) = @_;
    return sprintf('%06d|%s|hall %d', $guest->{number}, uc $guest->{name}, $guest->{hall});
}

sub @{fn} {
    my ($text) = @_;
    my $child = open2(my $out, my $in, '@{tool}');
    print $in $text;
    close($in);
    my $sum = <$out>;
    close($out);
    waitpid($child, 0);
    return substr($sum, 0, 16);
}

sub by_library {
    my ($text) = @_;
    return substr(Digest::SHA->new(@{bits})->add($text)->hexdigest, 0, 16);
}

# The doors fetch the seal of the list, to see that theirs is the newest.
sub seal_list {
    while (1) {
        my $seal = @{fn}(join("\n", map { text_of($_) } @guests));
        sleep(4);
    }
}

sub answer {
    my ($line) = @_;
    my ($number) = $line =~ /^badge (\d+)/ or return "error: badge NUMBER\n";
    my $text = text_of($guests[$number % @guests]);
    my $seal = '@{seal}' eq 'program' ? @{fn}($text) : by_library($text);
    return "$text|$seal\n";
}

sub serve {
    my ($door) = @_;
    while (my $client = $door->accept) {
        setsockopt($client, IPPROTO_TCP, TCP_NODELAY, 1);
        $client->autoflush(1);
        while (my $line = <$client>) {
            print $client answer($line);
        }
        close($client);
    }
}

$SIG{PIPE} = 'IGNORE';
my $door = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => @{port}, Listen => 20, ReuseAddr => 1) or die $!;
my @work = (sub { serve($door) }) x @{clients};
push @work, \&seal_list if '@{seal}' eq 'list';
for my $work (@work) {
    my $child = fork() // die $!;
    next if $child;
    $work->();
    exit 0;
}
1 while wait() > 0;
