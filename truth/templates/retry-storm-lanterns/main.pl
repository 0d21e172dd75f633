# Registers the groups of a lantern parade: each needs a permit of the fire brigade, by the number and size of its lanterns.
use strict;
use warnings;
use IO::Select;
use IO::Socket::INET;
use Socket qw(IPPROTO_TCP TCP_NODELAY);
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC sleep);

sub now { return clock_gettime(CLOCK_MONOTONIC) }

my $line;

sub once {
    my ($question, $patience) = @_;
    if (!$line) {
        $line = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => @{brigade}) or die "brigade: $!";
        $line->setsockopt(IPPROTO_TCP, TCP_NODELAY, 1);
    }
    syswrite($line, $question) or die "brigade: $!";
    my ($answer, $until) = ('', now() + $patience / 1000);
    while ($answer !~ /\n/) {
        my $left = $until - now();
        return undef if $left <= 0 || !IO::Select->new($line)->can_read($left);
        sysread($line, $answer, 4096, length $answer) or die "brigade: closed";
    }
    chomp $answer;
    return $answer;
}

sub @{fn} {
    my ($group) = @_;
    my $question = "permit $group->{number} $group->{length} " . @{$group->{lanterns}} . "\n";
    for (my $patience = @{patience};; $patience *= @{grows}) {
        my $answer = once($question, $patience);
        return $answer =~ /granted$/ if defined $answer;
        # An answer that comes late must not be taken for that of another group.
        close $line;
        undef $line;
    }
}

sub width {
    my ($lanterns, $order) = @_;
    my $sum = 0;
    for (my $i = 0; $i < @$order; $i += 3) {
        my $widest = 0;
        for my $n (grep { defined } @$order[$i .. $i + 2]) { $widest = $lanterns->[$n] if $lanterns->[$n] > $widest }
        $sum += $widest + 150;
    }
    return $sum;
}

# Lines the group up in rows of three, so that it takes little room in the street: swaps two, and keeps what is shorter.
sub line_up {
    my ($lanterns) = @_;
    my @order = (0 .. $#$lanterns);
    my ($best, $until) = (width($lanterns, \@order), now() + @{own} / 1000);
    while (now() < $until) {
        my ($a, $b) = (int rand @order, int rand @order);
        my @other = @order;
        @other[$a, $b] = @other[$b, $a];
        my $now = width($lanterns, \@other);
        if ($now <= $best) { ($best, @order) = ($now, @other) }
    }
    return $best;
}

sub group_of {
    my ($number) = @_;
    my @lanterns = map { ($number * 31 + $_ * 17) % 70 + 20 } 0 .. @{members} - 1;
    return { number => $number, lanterns => \@lanterns, length => line_up(\@lanterns) };
}

my ($units, $busy, $culprit, $at, $route, @places) = (0, 0, 0, 0, '');
my $began = now();
while (now() - $began < @{seconds}) {
    my $start = now();
    my $group = group_of($units + 1);
    my $asked = now();
    my $granted = @{fn}($group);
    $culprit += now() - $asked;
    if ($granted) {
        push @places, [$at, $group->{number}];
        $at += $group->{length};
    }
    $route = once("route\n", 2000) for 1 .. @{queue};
    $units++;
    $busy += now() - $start;
    my $rest = $began + $units / @{rate} - now();
    sleep($rest) if $rest > 0;
}
printf STDERR "%d groups, %d m of street, %s\n", scalar @places, $at / 100, $route // 'route unknown';
open my $out, '>', '@{report}' or die "report: $!";
print $out qq({"units": $units, "seconds": $busy, "culprit": $culprit});
close $out;
