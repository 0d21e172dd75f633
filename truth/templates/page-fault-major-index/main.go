// Answers where an address is, from an index that is a file, as it was built at night.
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"log"
	"net"
	"os"
	"syscall"
)

const page = 4096

type index struct {
	data  []byte
	pages uint64
}

func open(name string) (*index, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	about, err := file.Stat()
	if err != nil {
		return nil, err
	}
	data, err := syscall.Mmap(int(file.Fd()), 0, int(about.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	// Nobody asks for neighbours: to read ahead is no use.
	if err := syscall.Madvise(data, syscall.MADV_RANDOM); err != nil {
		return nil, err
	}
	return &index{data, uint64(len(data)) / page / @{hot}}, nil
}

func (i *index) warm() {
	syscall.Madvise(i.data, syscall.MADV_NORMAL)
	syscall.Madvise(i.data[:i.pages*page], syscall.MADV_WILLNEED)
	sum := byte(0)
	for at := uint64(0); at < i.pages; at++ {
		sum ^= i.data[at*page]
	}
	syscall.Madvise(i.data, syscall.MADV_RANDOM)
	log.Printf("the index is read: %x", sum)
}

//go:noinline
func (i *index) @{fnCamel}(key uint64) []byte {
	// Each page says at which one the search goes on.
	at := key % i.pages
	for hop := 1; hop < @{hops}; hop++ {
		at = (binary.LittleEndian.Uint64(i.data[at*page+key%500*8:]) ^ key) % i.pages
	}
	return i.data[at*page : at*page+256]
}

func serve(line net.Conn, from *index) {
	defer line.Close()
	asked := bufio.NewScanner(line)
	for asked.Scan() {
		hash := fnv.New64a()
		hash.Write(asked.Bytes())
		key, sum := hash.Sum64(), uint64(0)
		for n := uint64(0); n < @{asks}; n++ {
			hash.Write([]byte{byte(n)})
			entry := from.@{fnCamel}(hash.Sum64())
			for round := 0; round < @{rounds}; round++ {
				for _, c := range entry {
					sum = (sum ^ uint64(c)) * 1099511628211
				}
			}
		}
		fmt.Fprintf(line, "%d %d\n", key%90, sum)
	}
}

func main() {
	found, err := open("@{work}/@{data}")
	if err != nil {
		log.Fatal(err)
	}
	if @{warm} == 1 {
		found.warm()
	}
	listener, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		line, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(line, found)
	}
}
