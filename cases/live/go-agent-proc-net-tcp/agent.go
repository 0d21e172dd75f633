// An agent that reads the inodes of all established connections from /proc/net/tcp, again and again, as one that watches
// a host's processes does. Four versions of the reader: the first, two that were to make it faster, and one that is.
// agent MODE SECONDS CONNECTIONS: prints "pprof ADDRESS", "connections N" when it is ready, and "rounds N inodes M of K" at the end.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const table = "/proc/net/tcp"
const established = "01"

// The first version: a line is split into all of its columns, for two of them.
func readByFields() map[string]bool {
	inodes := map[string]bool{}
	file, err := os.Open(table)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) > 9 && fields[3] == established {
			inodes[fields[9]] = true
		}
	}
	return inodes
}

// A goroutine a line, each under one lock from its start to its end.
func readByGoroutines() map[string]bool {
	inodes := map[string]bool{}
	file, err := os.Open(table)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	var lock sync.Mutex
	var all sync.WaitGroup
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line := lines.Text()
		all.Add(1)
		go func() {
			defer all.Done()
			lock.Lock()
			defer lock.Unlock()
			fields := strings.Fields(line)
			if len(fields) > 9 && fields[3] == established {
				inodes[fields[9]] = true
			}
		}()
	}
	all.Wait()
	return inodes
}

// Only the map is locked. The line is read from the scanner by the goroutine, when the scanner is lines further on, and
// nobody waits for the goroutines: inodes get lost.
func readRacy() map[string]bool {
	inodes := map[string]bool{}
	file, err := os.Open(table)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	var lock sync.Mutex
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		go func() {
			fields := strings.Fields(lines.Text())
			if len(fields) > 9 && fields[3] == established {
				lock.Lock()
				inodes[fields[9]] = true
				lock.Unlock()
			}
		}()
	}
	lock.Lock()
	defer lock.Unlock()
	found := make(map[string]bool, len(inodes))
	for inode := range inodes {
		found[inode] = true
	}
	return found
}

// The lines have one form: the state stands 30 bytes behind the first colon, the inode begins 87 behind it
// (net/ipv4/tcp_ipv4.c, get_tcp4_sock). Counted from the start of the line they move by one from line 10,000 on.
func readByPosition() map[string]bool {
	inodes := map[string]bool{}
	file, err := os.Open(table)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	lines := bufio.NewReaderSize(file, 1<<16)
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			return inodes
		}
		colon := bytes.IndexByte(line, ':')
		if colon < 0 || len(line) < colon+88 || line[colon+30] != '0' || line[colon+31] != '1' {
			continue
		}
		start := colon + 87
		end := start
		for end < len(line) && line[end] != ' ' {
			end++
		}
		inodes[string(line[start:end])] = true
	}
}

// Loopback connections, as many as the limit of descriptors allows.
func connect(wanted int) []net.Conn {
	var limit syscall.Rlimit
	syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)
	limit.Cur = limit.Max
	syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
	syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)
	if most := (int(limit.Cur) - 100) / 2; wanted > most {
		wanted = most
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	var held []net.Conn
	for len(held) < 2*wanted {
		ours, err := net.Dial("tcp4", listener.Addr().String())
		if err != nil {
			break
		}
		theirs, err := listener.Accept()
		if err != nil {
			break
		}
		// They leave nothing behind: no TIME_WAIT for the version that comes next.
		ours.(*net.TCPConn).SetLinger(0)
		theirs.(*net.TCPConn).SetLinger(0)
		held = append(held, ours, theirs)
	}
	return held
}

func main() {
	read := map[string]func() map[string]bool{
		"fields": readByFields, "goroutines": readByGoroutines, "racy": readRacy, "position": readByPosition,
	}[os.Args[1]]
	seconds, _ := strconv.ParseFloat(os.Args[2], 64)
	wanted, _ := strconv.Atoi(os.Args[3])
	held := connect(wanted)
	server, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go http.Serve(server, nil)
	fmt.Printf("pprof %s\nconnections %d\n", server.Addr(), len(held)/2)
	rounds, fewest := 0, 1<<30
	for end := time.Now().Add(time.Duration(seconds * 1e9)); time.Now().Before(end); rounds++ {
		if found := len(read()); found < fewest {
			fewest = found
		}
	}
	runtime.KeepAlive(held)
	fmt.Printf("rounds %d inodes %d of %d\n", rounds, fewest, len(held))
}
