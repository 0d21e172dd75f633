# Imports the articles of suppliers for a builders' merchant.
use strict;
use warnings;
use IO::Handle;
use IPC::Open2;
use Time::HiRes qw(time);

my %articles;
my ($units, $busy, $spent, $inner) = (0, 0, 0, 0);
open(my $shelf, '>', '@{work}/@{shelf}') or die "no shelf: $!";
$shelf->autoflush(1);

sub keep {
    my ($took, $article) = split /\t/, shift, 2;
    die "no article\n" unless defined $article;
    $inner += $took;
    my ($number, $weight) = $article =~ /"number": (\d+).*"weight": (\d+)/;
    $articles{$number} = $weight;
    print $shelf $article;
    $units++;
}

# The script that knows the forms of all suppliers.
sub converter {
    my $pid = open2(my $answers, my $lines, '/usr/bin/python3', '@{work}/@{tool}');
    $lines->autoflush(1);
    return ($pid, $answers, $lines);
}

sub @{fn} {
    my @all = @_;
    my ($pid, $answers, $lines) = converter();
    print $lines $_ for @all;
    close $lines;
    keep($_) while <$answers>;
    waitpid $pid, 0;
    die "the script ended with $?\n" if $?;
}

my ($pid, $answers, $lines) = '@{start}' eq 'once' ? converter() : ();
my @waiting;
open(my $inbox, '<', '@{work}/@{inbox}') or die "no inbox: $!";
my $began = my $since = time;
while (time - $began < @{seconds}) {
    my $line = <$inbox>;
    last unless defined $line;
    my $from = time;
    $inner = 0;
    my ($number) = split /;/, $line, 2;
    next if exists $articles{$number};
    if ('@{start}' eq 'article') {
        @{fn}($line);
    } elsif ('@{start}' eq 'once') {
        print $lines $line;
        keep(scalar <$answers>);
    } else {
        push @waiting, $line;
        if ($from - $since > @{gather}) {
            @{fn}(splice @waiting);
            $since = $from;
        }
    }
    my $took = time - $from;
    $busy += $took;
    $spent += $took - $inner;
}
close $lines if $lines;
open(my $report, '>', '@{report}') or die $!;
printf $report '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $spent;
close $report;
