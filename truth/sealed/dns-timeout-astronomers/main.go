// Routes the night's observations to the observatories that asked for them.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"strings"
	"time"
)

type observation struct {
	dome    int
	ra, dec float64
	magn    float64
}

type directory struct {
	resolvers []*net.Resolver
	asked     time.Duration
}

func newDirectory(servers string) *directory {
	d := &directory{}
	for _, server := range strings.Fields(servers) {
		address := net.JoinHostPort(server, "53")
		d.resolvers = append(d.resolvers, &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			var dialer net.Dialer
			return dialer.DialContext(ctx, network, address)
		}})
	}
	return d
}

//go:noinline
func (d *directory) @{fnCamel}(host string) (string, error) {
	start := time.Now()
	defer func() { d.asked += time.Since(start) }()
	err := errors.New("no name server")
	for _, resolver := range d.resolvers {
		ctx, cancel := context.WithTimeout(context.Background(), @{wait_ms}*time.Millisecond)
		var addresses []net.IP
		addresses, err = resolver.LookupIP(ctx, "ip4", host)
		cancel()
		if err == nil {
			return addresses[0].String(), nil
		}
		var named *net.DNSError
		if errors.As(err, &named) && named.IsNotFound {
			return "", nil
		}
	}
	return "", err
}

func observe(number int) observation {
	t := float64(number) * 0.618034
	return observation{number, math.Mod(t*24, 24), math.Asin(math.Mod(t, 2)-1) * 57.3, 6 + math.Mod(t*3, 12)}
}

func sign(o observation) string {
	sum := sha256.Sum256([]byte(fmt.Sprintf("%d %.5f %.5f %.2f", o.dome, o.ra, o.dec, o.magn)))
	for i := 0; i < @{rounds}*10; i++ {
		sum = sha256.Sum256(sum[:])
	}
	return fmt.Sprintf("%x", sum[:8])
}

func main() {
	names := newDirectory("@{servers}")
	routes := map[string][]string{}
	units, busy := 0, time.Duration(0)
	began := time.Now()
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		o := observe(units)
		signature := sign(o)
		where, err := names.@{fnCamel}(fmt.Sprintf("dome%d.@{zone}.", o.dome))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		routes[where] = append(routes[where], signature)
		units++
		busy += time.Since(start)
		time.Sleep(time.Until(began.Add(time.Duration(units) * time.Second / @{rate})))
	}
	text, _ := json.Marshal(map[string]any{"units": units, "seconds": busy.Seconds(), "culprit": names.asked.Seconds(), "routes": len(routes)})
	os.WriteFile("@{report}", text, 0o644)
}
