package main

import (
	"bytes"
	"compress/gzip"
	"crypto/aes"
	"crypto/cipher"
	"fmt"
	"os"
	"time"
)

var began = time.Now()

func now() float64 { return time.Since(began).Seconds() }

func waitUntil(due float64) { time.Sleep(time.Duration((due - now()) * 1e9)) }

func report(units int, busy, culprit float64) {
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy, culprit)
	os.WriteFile("@{report}", []byte(text), 0o644)
}

type page struct {
	text, sealed []byte
}

// The page as it goes to a branch: packed, then enciphered.
//go:noinline
func @{fnCamel}(text []byte) []byte {
	var out bytes.Buffer
	pack, _ := gzip.NewWriterLevel(&out, gzip.BestCompression)
	pack.Write(text)
	pack.Close()
	block, _ := aes.NewCipher([]byte("0123456789abcdef"))
	sealed := out.Bytes()
	cipher.NewCTR(block, make([]byte, 16)).XORKeyStream(sealed, sealed)
	return sealed
}

func main() {
	var text bytes.Buffer
	for n := 0; text.Len() < @{used}*1024; n++ {
		fmt.Fprintf(&text, "<tr><td>%d</td><td>room %d</td><td>%x</td></tr>\n", n*7919%99991, n%31, n*n)
	}
	one := page{text: text.Bytes()}
	one.sealed = @{fnCamel}(one.text)
	jobs, done := make(chan int), make(chan float64)
	go func() {
		for range jobs {
			at := now()
			if @{again} == 1 {
				one.sealed = @{fnCamel}(one.text)
			}
			done <- now() - at
		}
	}()
	units, busy, culprit := 0, 0.0, 0.0
	start := now()
	for now()-start < @{seconds} {
		at := now()
		jobs <- units
		culprit += <-done
		units++
		busy += now() - at
		waitUntil(start + float64(units)/@{rate})
	}
	report(units, busy, culprit*@{again})
}
