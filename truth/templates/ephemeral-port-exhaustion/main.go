package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"
)

const localPortRange = 51

// Hotels are asked over HTTP; the proxy in between knows us by our source ports.
var dialer = net.Dialer{Control: func(network, address string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) {
		if @{keep} > 1 && @{keep} < 100 {
			syscall.Bind(int(fd), &syscall.SockaddrInet4{Addr: [4]byte{192, 0, 2, 7}})
		}
		syscall.SetsockoptInt(int(fd), syscall.IPPROTO_IP, localPortRange, @{lowest}|(@{lowest}+@{ports}-1)<<16)
	})
}}

var transport = &http.Transport{DialContext: dialer.DialContext}
var waited, past time.Duration

func @{fnCamel}(hotel int) ([]byte, error) {
	client := http.Client{Transport: transport}
	answer, err := client.Get(fmt.Sprintf("http://127.0.0.1:@{back}/rooms/%d", hotel))
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	return io.ReadAll(answer.Body)
}

func main() {
	began, units, busy := time.Now(), 0, time.Duration(0)
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		rooms, err := @{fnCamel}(units)
		for err != nil {
			time.Sleep(@{wait} * time.Millisecond)
			waited = time.Since(start) + past
			rooms, err = @{fnCamel}(units)
		}
		past = waited
		sum := sha256.Sum256(rooms)
		for i := 0; i < @{rounds}; i++ {
			sum = sha256.Sum256(sum[:])
		}
		units++
		if units%max(1, @{keep}) == 0 {
			transport.CloseIdleConnections()
		}
		busy += time.Since(start)
		time.Sleep(time.Until(began.Add(time.Duration(float64(units) / @{pace} * 1e9))))
	}
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), waited.Seconds())
	os.WriteFile("@{report}", []byte(text), 0o644)
}
