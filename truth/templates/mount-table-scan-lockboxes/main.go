// Files papers into lockboxes: each box is a mount of its own, and a paper's label says on which one it lies.
package main

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

const root = "@{work}/@{boxes}"

type box struct {
	path, device, options string
}

var boxes []string
var atStart = map[string]box{}
var spent time.Duration

// The mounts are of this program alone.
func init() {
	runtime.LockOSThread()
	if err := syscall.Unshare(syscall.CLONE_NEWNS); err != nil {
		log.Fatal(err)
	}
	if err := syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		log.Fatal(err)
	}
	for number := 1; number <= @{number}; number++ {
		path := filepath.Join(root, fmt.Sprintf("@{kind}%d", number))
		if err := syscall.Mount(path, path, "", syscall.MS_BIND, ""); err != nil {
			log.Fatal(err)
		}
		boxes = append(boxes, path)
	}
	table(func(one box) { atStart[one.path] = one })
}

func table(each func(box)) {
	file, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(bufio.NewReaderSize(file, 65536))
	for lines.Scan() {
		if words := strings.Fields(lines.Text()); len(words) > 6 {
			each(box{words[4], words[2], words[5]})
		}
	}
}

// The box of a paper: the longest mount that its path begins with.
//
//go:noinline
func @{fnCamel}(paper string) (found box) {
	start := time.Now()
	defer func() { spent += time.Since(start) }()
	table(func(one box) {
		if strings.HasPrefix(paper, one.path) && len(one.path) > len(found.path) {
			found = one
		}
	})
	return found
}

func boxOf(paper string) box {
	if @{known} == 1 {
		return atStart[filepath.Dir(paper)]
	}
	return @{fnCamel}(paper)
}

func file(round int) (labels []string) {
	text := strings.Repeat("whereas the party of the first part ", @{bytes}/36+1)
	for i := 0; i < @{papers}; i++ {
		paper := filepath.Join(boxes[(round*31+i*17)%len(boxes)], fmt.Sprintf("deed-%d-%d.txt", round, i))
		where := boxOf(paper)
		seal := sha256.Sum256([]byte(text + paper))
		for turn := 0; turn < 200; turn++ {
			seal = sha256.Sum256(seal[:])
		}
		labels = append(labels, fmt.Sprintf("%x %s %s %s", seal[:6], where.device, where.options, paper))
	}
	return labels
}

func main() {
	var busy time.Duration
	units, letters := 0, 0
	began := time.Now()
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		for _, label := range file(units) {
			letters += len(label)
		}
		units++
		busy += time.Since(start)
		time.Sleep(time.Until(began.Add(time.Duration(float64(units) / @{rate} * 1e9))))
	}
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), spent.Seconds())
	if err := os.WriteFile("@{report}", []byte(text), 0o644); err != nil {
		log.Fatal(err)
	}
	fmt.Println(units, "rounds", letters)
}
