// Says which pollen is on a trap's slide: compares it with grains of the reference collection.
package main

import (
	"bufio"
	"fmt"
	"log"
	"net"
	"os"
	"strconv"
	"strings"
)

const grain = @{kb} << 10

type collection struct {
	file  *os.File
	count uint64
}

func open(path string) (*collection, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	all := uint64(info.Size() / grain)
	kept := &collection{file, uint64(float64(all) * @{season})}
	part := make([]byte, 1<<20)
	for at := int64(0); at < int64(kept.count*grain); at += 1 << 20 {
		if _, err := file.ReadAt(part, at); err != nil {
			break
		}
	}
	return kept, nil
}

//go:noinline
func (c *collection) @{fn}(number uint64, into []byte) error {
	_, err := c.file.ReadAt(into, int64(number%c.count*grain))
	return err
}

func likeness(picture []byte, slide uint64) (sum uint64) {
	for i := 0; i < len(picture); i += 16 {
		sum += uint64(picture[i] ^ byte(slide>>(i&7)))
	}
	return sum
}

func (c *collection) identify(slide uint64, picture []byte) (string, error) {
	best, which, state := uint64(0), uint64(0), slide*0x9e3779b97f4a7c15|1
	for i := 0; i < @{grains}; i++ {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		if err := c.@{fn}(state>>11, picture); err != nil {
			return "", err
		}
		if like := likeness(picture, slide); like > best {
			best, which = like, (state >> 11) % c.count
		}
	}
	return fmt.Sprintf("grain %d likeness %d\n", which, best), nil
}

func (c *collection) serve(trap net.Conn) {
	defer trap.Close()
	picture := make([]byte, grain)
	lines := bufio.NewScanner(trap)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		slide, err := strconv.ParseUint(words[len(words)-1], 10, 64)
		if err != nil {
			return
		}
		answer, err := c.identify(slide, picture)
		if err != nil {
			log.Print(err)
			return
		}
		trap.Write([]byte(answer))
	}
}

func main() {
	if err := os.WriteFile("/sys/fs/cgroup/memory/@{slice}/cgroup.procs", []byte(strconv.Itoa(os.Getpid())), 0o644); err != nil {
		log.Fatal(err)
	}
	c, err := open("@{work}/@{collection}")
	if err != nil {
		log.Fatal(err)
	}
	door, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		trap, err := door.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go c.serve(trap)
	}
}
