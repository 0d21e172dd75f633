// As site.c, by the standard library of Go: site PORT FOLDER. Each goroutine keeps its thread.
package main

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"
)

var latch sync.Mutex
var numbers = make([]uint64, 1<<20)
var sink uint64

func heronTally() uint64 {
	sum := uint64(1)
	for at := range numbers { // SITE compute heronTally
		sum = sum*31 + numbers[at]>>7 + uint64(at) // SITE compute heronTally
		numbers[at] = sum                          // SITE compute heronTally
	}
	return sum
}

func otterLatch() uint64 {
	latch.Lock() // SITE lock otterLatch
	defer latch.Unlock()
	return 1
}

// A lock of the kernel, for which the goroutine waits in a system call.
func stoatClaim(file *os.File) uint64 {
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil { // SITE flock stoatClaim
		panic(err)
	}
	syscall.Flock(int(file.Fd()), syscall.LOCK_UN)
	return 1
}

func finchFlush(file *os.File, block []byte) uint64 {
	if _, err := file.WriteAt(block, 0); err != nil { // SITE file finchFlush
		panic(err)
	}
	if err := file.Sync(); err != nil { // SITE file finchFlush
		panic(err)
	}
	return uint64(len(block))
}

func badgerAsk(peer net.Conn) uint64 {
	var answer [16]byte
	if _, err := peer.Write([]byte("?")); err != nil {
		os.Exit(0)
	}
	if _, err := peer.Read(answer[:]); err != nil { // SITE peer badgerAsk
		os.Exit(0)
	}
	return uint64(answer[0])
}

func newtDoze() uint64 {
	time.Sleep(50 * time.Millisecond) // SITE timer newtDoze
	return 50
}

func nearCaller(of func() uint64) uint64 {
	return of() + 1
}

func farCaller(of func() uint64) uint64 {
	return nearCaller(of) + 1
}

func begin(kind string, of func() uint64) {
	go func() {
		runtime.LockOSThread()
		fmt.Println(kind, syscall.Gettid())
		for {
			sink += farCaller(of)
			if kind == "lock" || kind == "flock" {
				time.Sleep(5 * time.Millisecond) // SITE rest begin
			}
		}
	}()
}

func opened(path string) *os.File {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0600)
	if err != nil {
		panic(err)
	}
	return file
}

func main() {
	peer, err := net.Dial("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		panic(err)
	}
	file, claimed := opened(os.Args[2]+"/file"), opened(os.Args[2]+"/lock")
	begin("compute", heronTally)
	begin("lock", otterLatch)
	begin("flock", func() uint64 { return stoatClaim(claimed) })
	block := make([]byte, 1<<22)
	begin("file", func() uint64 { return finchFlush(file, block) })
	begin("peer", func() uint64 { return badgerAsk(peer) })
	begin("timer", newtDoze)
	for {
		latch.Lock()
		time.Sleep(50 * time.Millisecond)
		latch.Unlock()
		time.Sleep(2 * time.Millisecond)
	}
}
