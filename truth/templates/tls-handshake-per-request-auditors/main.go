// Forwards the audit trail of a dispensary to the collector of the hospital.
package main

import (
	"bufio"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"log"
	"os"
	"strings"
	"time"
)

type forwarder struct {
	config *tls.Config
	line   *tls.Conn
	spent  time.Duration
}

// The entries are chained: each has the digest of those before it.
type chain struct {
	last   [32]byte
	number int
}

func (c *chain) entry() string {
	c.number++
	text := fmt.Sprintf("<110>1 drawer=%d nurse=%d drug=%05d amount=%d", c.number%40, c.number%17, c.number*7919%100000, 1+c.number%4)
	for range @{seal} {
		c.last = sha256.Sum256(append(c.last[:], text...))
	}
	return fmt.Sprintf("%s host=disp%d seal=%s\n", text, @{host_id}, hex.EncodeToString(c.last[:8]))
}

func (f *forwarder) @{fnCamel}() error {
	start := time.Now()
	defer func() { f.spent += time.Since(start) }()
	line, err := tls.Dial("tcp", "127.0.0.1:@{port}", f.config)
	if err == nil {
		f.line = line
	}
	return err
}

func (f *forwarder) send(frame string, entries int) error {
	if f.line == nil {
		if err := f.@{fnCamel}(); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintf(f.line, "%d %s", len(frame), frame); err != nil {
		return err
	}
	answer, err := bufio.NewReader(f.line).ReadString('\n')
	if err != nil {
		return err
	}
	if answer != fmt.Sprintf("OK %d\n", entries) {
		return fmt.Errorf("collector says %q", answer)
	}
	if "@{keep}" == "no" {
		f.line.Close()
		f.line = nil
	}
	return nil
}

func main() {
	pem, err := os.ReadFile("@{work}/trail.pem")
	if err != nil {
		log.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	f := &forwarder{config: &tls.Config{RootCAs: pool, ServerName: "localhost"}}
	trail := &chain{}
	units, busy, began := 0, time.Duration(0), time.Now()
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		var frame strings.Builder
		for range @{entries} {
			frame.WriteString(trail.entry())
		}
		if err := f.send(frame.String(), @{entries}); err != nil {
			log.Fatal(err)
		}
		units++
		busy += time.Since(start)
		time.Sleep(time.Until(began.Add(time.Duration(float64(units) / @{rate} * 1e9))))
	}
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), f.spent.Seconds())
	os.WriteFile("@{report}", []byte(text), 0o644)
}
