package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"
)

type series struct {
	name  string
	value int64
}

func gather(n int) []series {
	found := make([]series, n)
	suffix := strings.Repeat("x", @{width}-6)
	for i := range found {
		found[i] = series{fmt.Sprintf("%s%d", suffix, i%10), int64(i % 97)}
	}
	return found
}

func @{fnCamel}(out io.Writer, batch []series, at int64) error {
	for i := range batch {
		if _, err := fmt.Fprintf(out, "%s:%d|g\n", batch[i].name, batch[i].value+at%7); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	conn, err := net.Dial("tcp", "127.0.0.1:@{port}")
	if err != nil {
		panic(err)
	}
	batch := gather(@{used})
	rate := @{load} * 300000 / float64(@{lines})
	began := time.Now()
	var busy, writing time.Duration
	units := 0
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		if @{gather} > 0 {
			out := bufio.NewWriterSize(conn, @{gather})
			if err = @{fnCamel}(out, batch, int64(units)); err == nil {
				err = out.Flush()
			}
		} else {
			err = @{fnCamel}(conn, batch, int64(units))
		}
		if err != nil {
			panic(err)
		}
		units++
		writing += time.Since(start)
		busy += time.Since(start)
		time.Sleep(time.Until(began.Add(time.Duration(float64(units) / rate * 1e9))))
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), writing.Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		panic(err)
	}
}
