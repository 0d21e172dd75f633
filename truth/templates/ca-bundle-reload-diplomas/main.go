// Checks the seals of court decisions before they go into the register.
package main

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"log"
	"os"
	"time"
)

type seals struct {
	pool   *x509.CertPool
	served int
	spent  time.Duration
}

//go:noinline
func (s *seals) @{fnCamel}() *x509.CertPool {
	start := time.Now()
	if s.served%@{fresh} == 0 {
		text, err := os.ReadFile("@{work}/@{bundle}")
		if err != nil {
			log.Fatal(err)
		}
		s.pool = x509.NewCertPool()
		s.pool.AppendCertsFromPEM(text)
	}
	s.served++
	s.spent += time.Since(start)
	return s.pool
}

func (s *seals) check(text []byte) error {
	block, _ := pem.Decode(text)
	if block == nil {
		return fmt.Errorf("no seal")
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return err
	}
	_, err = certificate.Verify(x509.VerifyOptions{Roots: s.@{fnCamel}(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
	return err
}

func main() {
	seal, err := os.ReadFile("@{work}/seal.pem")
	if err != nil {
		log.Fatal(err)
	}
	s, units, busy, per := &seals{}, 0, time.Duration(0), @{per_s}
	register := map[byte]int{}
	for began := time.Now(); time.Since(began).Seconds() < @{seconds}; {
		start := time.Now()
		if err := s.check(seal); err != nil {
			log.Fatal(err)
		}
		sum := sha256.New()
		for page := 0; page < @{pages}; page++ {
			fmt.Fprintf(sum, "decision %d, page %d\n", units, page)
		}
		register[sum.Sum(nil)[0]]++
		units++
		busy += time.Since(start)
		time.Sleep(time.Until(start.Add(time.Duration(1e9 / per))))
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), s.spent.Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
