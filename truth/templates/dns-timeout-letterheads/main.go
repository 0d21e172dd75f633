// Prints letterheads: sets the draft, and looks up whether the domain on it belongs to who ordered it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"net"
	"os"
	"strings"
	"sync"
	"time"
)

var servers = []string{"@{ns}:53", "@{second}:53"}

type draft struct {
	number int
	domain string
	lines  []string
}

type press struct {
	sync.Mutex
	units         int
	busy, looking time.Duration
	plates        map[uint32]bool
}

func through(server string) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		var dialer net.Dialer
		return dialer.DialContext(ctx, network, server)
	}}
}

//go:noinline
func @{fnCamel}(domain string) (string, error) {
	var last error
	for _, server := range servers {
		ctx, stop := context.WithTimeout(context.Background(), @{patience_ms}*time.Millisecond)
		texts, err := through(server).LookupTXT(ctx, domain)
		stop()
		var missing *net.DNSError
		if errors.As(err, &missing) && missing.IsNotFound {
			return "", nil
		}
		if err == nil {
			return strings.TrimPrefix(texts[0], "owner="), nil
		}
		last = err
	}
	return "", last
}

func set(d draft, owner string) uint32 {
	sum := crc32.NewIEEE()
	for font := 0; font < @{fonts}; font++ {
		for row, line := range d.lines {
			fmt.Fprintf(sum, "%d %d %s %s\n", font*3, row, strings.ToUpper(line), owner)
		}
	}
	return sum.Sum32()
}

func (p *press) print(d draft) {
	start := time.Now()
	owner, err := @{fnCamel}(d.domain)
	asked := time.Now()
	if err != nil {
		fmt.Fprintln(os.Stderr, d.domain, err)
	}
	plate := set(d, owner)
	p.Lock()
	defer p.Unlock()
	p.plates[plate] = owner != ""
	p.units++
	p.looking += asked.Sub(start)
	p.busy += time.Since(start)
}

func main() {
	p := &press{plates: map[uint32]bool{}}
	drafts := make(chan draft)
	var all sync.WaitGroup
	for i := 0; i < @{presses}; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for d := range drafts {
				p.print(d)
			}
		}()
	}
	began := time.Now()
	for n := 1; time.Since(began).Seconds() < @{seconds}; n++ {
		name := fmt.Sprintf("firm%d", n)
		drafts <- draft{n, name + ".@{zone}.", []string{name + " & sons", "High Street " + fmt.Sprint(n%90), "www." + name + ".example"}}
		time.Sleep(time.Until(began.Add(time.Duration(float64(n) / @{rate} * 1e9))))
	}
	close(drafts)
	all.Wait()
	text, _ := json.Marshal(map[string]any{"units": p.units, "seconds": p.busy.Seconds(), "culprit": p.looking.Seconds()})
	os.WriteFile("@{report}", text, 0o644)
}
