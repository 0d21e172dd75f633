#!/usr/bin/perl
# Writes a digest of what is new in each of the firm's shared mailboxes.
use strict;
use warnings;
use IO::Socket::INET;
use Time::HiRes qw(time sleep);

package Office {
    sub open {
        my ($class, $port) = @_;
        my $line = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port") or die "post office: $!";
        $line->autoflush(1);
        my $self = bless { line => $line, tag => 0 }, $class;
        readline $line;
        $self->command('LOGIN digest secret');
        return $self;
    }

    # Gives each line that is said, with its literal behind it, to $hear.
    sub command {
        my ($self, $text, $hear) = @_;
        my $line = $self->{line};
        my $tag = sprintf 'p%d', ++$self->{tag};
        print $line "$tag $text\r\n";
        while (defined(my $said = readline $line)) {
            return if $said =~ /^$tag OK/;
            die "post office: $said" if $said =~ /^$tag /;
            my $literal = '';
            read $line, $literal, $1 if $said =~ /\{(\d+)\}\r\n$/;
            $hear->($said, $literal) if $hear;
        }
        die 'post office: closed';
    }

    sub unseen {
        my ($self, $box) = @_;
        my @uids;
        $self->command("EXAMINE $box");
        $self->command('UID SEARCH UNSEEN', sub { @uids = split ' ', $1 if $_[0] =~ /^\* SEARCH(.*)/ });
        return @uids;
    }

    sub @{fn} {
        my ($self, @uids) = @_;
        my @letters;
        my $keep = sub {
            my ($said, $head) = @_;
            return unless length $head;
            my %letter = $head =~ /^(\w+): (.*?)\r$/mg;
            ($letter{Size}) = $said =~ /RFC822\.SIZE (\d+)/;
            push @letters, \%letter;
        };
        for my $names ('@{fetch}' eq 'set' ? join(',', @uids) : @uids) {
            $self->command("UID FETCH $names (UID RFC822.SIZE BODY.PEEK[HEADER.FIELDS (FROM SUBJECT DATE TO)])", $keep);
        }
        return @letters;
    }
}

sub digest {
    my ($box, @letters) = @_;
    my (%topics, $size);
    for my $letter (@letters) {
        (my $topic = $letter->{Subject}) =~ s/^re: //i;
        $topic =~ s/ \d+\z//;
        push @{ $topics{$topic} }, "    $letter->{Date}  $letter->{From}\n";
        $size += $letter->{Size};
    }
    open my $out, '>', "@{work}/$box.digest" or die "$box: $!";
    printf $out "%s: %d new letters, %d bytes\n", $box, scalar @letters, $size // 0;
    for my $topic (sort keys %topics) {
        print $out "  $topic\n", sort @{ $topics{$topic} };
    }
    close $out;
}

my $office = Office->open(@{imap});
my ($units, $busy, $fetching) = (0, 0, 0);
my $began = time;
while ((my $start = time) - $began < @{seconds}) {
    my $box = 'team' . $units % @{boxes};
    my @uids = $office->unseen($box);
    my $asked = time;
    my @letters = $office->@{fn}(@uids);
    $fetching += time - $asked;
    digest($box, @letters);
    $units++;
    $busy += time - $start;
    my $rest = $began + $units / @{rate} - time;
    sleep $rest if $rest > 0;
}
open my $report, '>', '@{report}' or die $!;
printf $report '{"units": %d, "seconds": %f, "culprit": %f}', $units, $busy, $fetching;
close $report;
