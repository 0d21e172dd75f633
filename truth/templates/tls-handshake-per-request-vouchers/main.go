// Redeems the vouchers of a chain of shops: each is looked up at the partner that sold it.
package main

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptrace"
	"os"
	"sync"
	"time"
)

type tally struct {
	sync.Mutex
	units       int
	busy, spent time.Duration
}

// The line of one till to the partner.
type line struct {
	roots  *x509.CertPool
	client *http.Client
	made   time.Time
	trace  *httptrace.ClientTrace
	spent  time.Duration
}

type voucher struct {
	Voucher string `json:"voucher"`
	Valid   bool   `json:"valid"`
	Text    string `json:"text"`
}

func newLine(roots *x509.CertPool) *line {
	l := &line{roots: roots}
	var began time.Time
	l.trace = &httptrace.ClientTrace{
		TLSHandshakeStart: func() { began = time.Now() },
		TLSHandshakeDone:  func(tls.ConnectionState, error) { l.spent += time.Since(began) },
	}
	return l
}

func (l *line) @{fnCamel}() *http.Client {
	if l.client == nil || time.Since(l.made).Seconds() > @{life} {
		if l.client != nil {
			l.client.CloseIdleConnections()
		}
		l.made = time.Now()
		l.client = &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: l.roots}}}
	}
	return l.client
}

func (l *line) look(number int) (*voucher, error) {
	request, err := http.NewRequest("GET", fmt.Sprintf("https://127.0.0.1:@{partner}/vouchers/%d", number), nil)
	if err != nil {
		return nil, err
	}
	answer, err := l.@{fnCamel}().Do(request.WithContext(httptrace.WithClientTrace(request.Context(), l.trace)))
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	var v voucher
	return &v, json.Unmarshal(body, &v)
}

// The receipt that the customer gets; it can be checked by its seal.
func receipt(v *voucher, number int) string {
	text := fmt.Sprintf("voucher %d: %v\n%s", number, v.Valid, v.Text)
	for i := 0; i < @{rounds}*8; i++ {
		seal := sha256.Sum256([]byte(text))
		text = fmt.Sprintf("%x\n%s", seal[:4], text[:min(len(text), 900)])
	}
	return text
}

func till(number int, roots *x509.CertPool, end time.Time, all *tally) {
	l, units, busy, due := newLine(roots), 0, time.Duration(0), time.Now()
	for time.Now().Before(end) {
		due = due.Add(seconds(1.0 / @{rate}))
		if time.Until(due) < 0 {
			due = time.Now()
		}
		time.Sleep(time.Until(due))
		start := time.Now()
		v, err := l.look(number*100000 + units)
		if err != nil {
			log.Fatal(err)
		}
		if len(receipt(v, units)) == 0 {
			log.Print("no receipt")
		}
		busy += time.Since(start)
		units++
	}
	all.Lock()
	defer all.Unlock()
	all.units += units
	all.busy += busy
	all.spent += l.spent
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func main() {
	pem, err := os.ReadFile("@{work}/partner.pem")
	roots := x509.NewCertPool()
	if err != nil || !roots.AppendCertsFromPEM(pem) {
		log.Fatal("no certificate of the partner: ", err)
	}
	var all tally
	var tills sync.WaitGroup
	end := time.Now().Add(seconds(@{seconds}))
	for i := 0; i < @{workers}; i++ {
		tills.Add(1)
		go func() {
			defer tills.Done()
			till(i, roots, end, &all)
		}()
	}
	tills.Wait()
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, all.units, all.busy.Seconds(), all.spent.Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
