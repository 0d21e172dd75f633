// Delivers chat messages to other domains: where each of them takes them is asked of the name servers.
package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"sync"
	"time"
)

const patience = @{patience}

type names []*net.Resolver

func newNames(servers ...string) names {
	var all names
	for _, server := range servers {
		all = append(all, &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "udp", net.JoinHostPort(server, "53"))
		}})
	}
	return all
}

//go:noinline
func (n names) @{fnCamel}(domain string) ([]*net.SRV, error) {
	var failed error
	for _, server := range append(n, n...) {
		ctx, done := context.WithTimeout(context.Background(), time.Duration(patience*float64(time.Second)))
		_, found, err := server.LookupSRV(ctx, "xmpp-server", "tcp", domain+".")
		done()
		var known *net.DNSError
		if err == nil || errors.As(err, &known) && known.IsNotFound {
			return found, err
		}
		failed = err
	}
	return nil, failed
}

type account struct {
	sync.Mutex
	units         int
	busy, looking time.Duration
	outbox        map[string][]string
}

func (a *account) deliver(n names, number int) {
	start := time.Now()
	domain := fmt.Sprintf("d%d.@{zone}", number)
	routes, _ := n.@{fnCamel}(domain)
	looking := time.Since(start)
	sum := hmac.New(sha256.New, []byte("federation"))
	fmt.Fprintf(sum, "<message to='user@%s'><body>%d</body></message>", domain, number)
	to := "bounced"
	if len(routes) > 0 {
		to = fmt.Sprintf("%s:%d", routes[0].Target, routes[0].Port)
	}
	a.Lock()
	defer a.Unlock()
	a.outbox[to] = append(a.outbox[to], fmt.Sprintf("%x", sum.Sum(nil)))
	a.units++
	a.looking += looking
	a.busy += time.Since(start)
}

func main() {
	all := newNames("@{ns}", "@{second}")
	sum := &account{outbox: map[string][]string{}}
	messages := make(chan int)
	var deliverers sync.WaitGroup
	for range [@{deliverers}]struct{}{} {
		deliverers.Add(1)
		go func() {
			defer deliverers.Done()
			for number := range messages {
				sum.deliver(all, number)
			}
		}()
	}
	began := time.Now()
	for number := 1; time.Since(began).Seconds() < @{seconds}; number++ {
		select {
		case messages <- number:
		case <-time.After(200 * time.Millisecond):
		}
		time.Sleep(time.Until(began.Add(time.Duration(number) * time.Second / @{rate})))
	}
	close(messages)
	deliverers.Wait()
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, sum.units, sum.busy.Seconds(), sum.looking.Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
