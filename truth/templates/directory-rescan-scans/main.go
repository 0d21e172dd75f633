// Intake of a law firm: takes each new scan into the register, with the client's number and a print of its pages.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"hash/fnv"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

const folder = "@{work}/@{folder}"

type intake struct {
	newest        int
	units         int
	busy, listing time.Duration
	book          *bufio.Writer
}

func numberOf(name string) int {
	_, rest, _ := strings.Cut(filepath.Base(name), "@{stem}-")
	number, err := strconv.Atoi(strings.TrimSuffix(rest, ".tif"))
	if err != nil {
		return -1
	}
	return number
}

// A print that is the same for the same pages, whichever scanner they come from.
func printOf(pages []byte) uint64 {
	sum := fnv.New64a()
	for pass := 0; pass < 24; pass++ {
		sum.Write(pages)
	}
	return sum.Sum64()
}

func (in *intake) takeIn(name string) {
	pages, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		log.Print(err)
		return
	}
	head, _, _ := bytes.Cut(pages, []byte("\n"))
	fmt.Fprintf(in.book, "%s;%s;%016x\n", name, head, printOf(pages))
	in.units++
}

// Finds the scans that are newer than the newest known, and takes them in.
//
//go:noinline
func (in *intake) @{fnCamel}(first bool) {
	start := time.Now()
	directory, err := os.Open(folder)
	if err != nil {
		log.Fatal(err)
	}
	names, err := directory.Readdirnames(-1)
	directory.Close()
	if err != nil {
		log.Fatal(err)
	}
	newest, fresh := in.newest, []string(nil)
	for _, name := range names {
		number := numberOf(name)
		if number <= in.newest {
			continue
		}
		newest = max(newest, number)
		if !first {
			fresh = append(fresh, name)
		}
	}
	in.newest = newest
	in.listing += time.Since(start)
	for _, name := range fresh {
		in.takeIn(name)
	}
	in.busy += time.Since(start)
}

// Names that are moved into the folder, as the kernel tells them.
func watched() (<-chan string, error) {
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC)
	if err != nil {
		return nil, err
	}
	if _, err := syscall.InotifyAddWatch(fd, folder, syscall.IN_MOVED_TO); err != nil {
		return nil, err
	}
	names := make(chan string, 64)
	go func() {
		events := make([]byte, 8192)
		for {
			got, err := syscall.Read(fd, events)
			if err != nil {
				log.Fatal(err)
			}
			for at := 0; at < got; {
				event := (*syscall.InotifyEvent)(unsafe.Pointer(&events[at]))
				at += syscall.SizeofInotifyEvent
				names <- string(bytes.TrimRight(events[at:at+int(event.Len)], "\x00"))
				at += int(event.Len)
			}
		}
	}()
	return names, nil
}

func main() {
	file, err := os.OpenFile("register.csv", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		log.Fatal(err)
	}
	in := &intake{book: bufio.NewWriter(file)}
	var names <-chan string
	if "@{look}" == "told" {
		if names, err = watched(); err != nil {
			log.Fatal(err)
		}
	}
	in.@{fnCamel}(true)
	in.busy, in.listing = 0, 0
	over := time.After(time.Duration(@{seconds} * 1e9))
	again := time.NewTicker(time.Duration(@{every} * 1e9))
	for done := false; !done; {
		select {
		case <-over:
			done = true
		case name := <-names:
			start := time.Now()
			if number := numberOf(name); number > in.newest {
				in.newest = number
				in.takeIn(name)
			}
			in.busy += time.Since(start)
		case <-again.C:
			in.@{fnCamel}(false)
		}
	}
	in.book.Flush()
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, in.units, in.busy.Seconds(), in.listing.Seconds())
	if err := os.WriteFile("@{report}", []byte(text), 0o644); err != nil {
		log.Fatal(err)
	}
}
