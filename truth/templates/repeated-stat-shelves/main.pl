# Catalogue of a library: a page for each shelf. A few children take the readers.
use strict;
use warnings;
use IO::Socket::INET;
use Socket qw(IPPROTO_TCP TCP_NODELAY);
use Time::HiRes qw(time);

my $root = '@{work}/@{public}';
my @marks = qw(loan shelf braille audio large map score film local order star note);
my @authors = ('A. Lind', 'B. Okoro', 'C. Marsh', 'D. Weiss', 'E. Sato', 'F. Ruiz');
my ($version, $looked) = (0, 0);

# The time of a static file, so that browsers may keep it.
sub @{fn} {
    my ($name) = @_;
    return (stat "$root/$name")[9] // 0;
}

sub refresh {
    $version = sprintf '%x', @{fn}('@{icons}');
    $looked = time;
}

sub address {
    my ($name) = @_;
    return "$name?" . ('@{stamp}' eq 'icon' ? sprintf '%x', @{fn}($name) : $version);
}

sub shelf {
    my ($number) = @_;
    refresh() if '@{stamp}' eq 'page';
    my $page = "<!doctype html><title>Shelf $number</title><ul>";
    for my $book (0 .. @{books} - 1) {
        $page .= "<li>$authors[($number + $book * 5) % 6]: volume " . ($number * 31 + $book) % 900;
        $page .= '<use href=' . address('@{icons}') . "#$marks[$_ % 12]>" for $number + $book .. $number + $book + @{marks} - 1;
    }
    return "$page</ul>\n";
}

sub talk {
    my ($reader) = @_;
    $reader->setsockopt(IPPROTO_TCP, TCP_NODELAY, 1);
    while (my $first = <$reader>) {
        while (my $head = <$reader>) {
            last if $head =~ /^\r?\n/;
        }
        refresh() if '@{stamp}' eq 'timer' && time - $looked >= 1;
        my ($number) = $first =~ m{^GET /shelf/(\d+) };
        my ($status, $body) = defined $number ? ('200 OK', shelf($number)) : ('404 Not Found', "no such shelf\n");
        my $text = "HTTP/1.1 $status\r\nContent-Type: text/html\r\nContent-Length: " . length($body) . "\r\n\r\n$body";
        while (length $text) {
            my $sent = syswrite $reader, $text or return;
            substr $text, 0, $sent, '';
        }
    }
    return;
}

$SIG{PIPE} = 'IGNORE';
my $door = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => @{port}, Listen => 64, ReuseAddr => 1) or die "listen: $!\n";
refresh();
my @children;
for (1 .. 4) {
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        while (1) {
            my $reader = $door->accept or next;
            talk($reader);
        }
    }
    push @children, $pid;
}
$SIG{TERM} = sub { kill TERM => @children; exit 0 };
waitpid $_, 0 for @children;
