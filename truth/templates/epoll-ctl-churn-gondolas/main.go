// The control of a ropeway: hears what the gondolas tell, and answers how fast they may go.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

type line struct{ gondola int }

type control struct {
	list, door int
	lines      map[int]*line
	groups     map[int]map[int]bool
	wind       [64]float64
	units      int
	listing    time.Duration
}

func (c *control) change(what, fd int) {
	event := syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(fd)}
	if err := syscall.EpollCtl(c.list, what, fd, &event); err != nil {
		fmt.Fprintln(os.Stderr, "epoll_ctl:", err)
	}
}

//go:noinline
func (c *control) @{fnCamel}(gondola, what int) {
	start := time.Now()
	for fd := range c.groups[gondola] {
		c.change(what, fd)
	}
	c.listing += time.Since(start)
}

func (c *control) take() {
	for {
		fd, _, err := syscall.Accept4(c.door, syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC)
		if err != nil {
			return
		}
		syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
		c.lines[fd] = &line{-1}
		c.change(syscall.EPOLL_CTL_ADD, fd)
	}
}

// How fast: by the wind of the last telegrams, smoothed.
func (c *control) speed(gondola int, wind, swing float64) float64 {
	speed := 6.0
	for round := 0; round < @{rounds}*20; round++ {
		place := &c.wind[(gondola+round)%64]
		*place += (wind - *place) * 0.05
		speed += (7 - *place/4 - swing/3 - speed) * 0.1
	}
	return min(max(speed, 0), 7)
}

func (c *control) hear(fd int) {
	one := c.lines[fd]
	if one == nil {
		return
	}
	var text [32]byte
	n, err := syscall.Read(fd, text[:])
	if err == syscall.EAGAIN {
		return
	}
	if n != len(text) {
		c.change(syscall.EPOLL_CTL_DEL, fd)
		delete(c.groups[one.gondola], fd)
		delete(c.lines, fd)
		syscall.Close(fd)
		return
	}
	words := strings.Split(string(text[:]), ";")
	gondola, _ := strconv.Atoi(strings.TrimSpace(words[0]))
	wind, _ := strconv.ParseFloat(strings.TrimSpace(words[2]), 64)
	swing, _ := strconv.ParseFloat(strings.TrimSpace(words[3]), 64)
	if one.gondola < 0 {
		one.gondola = gondola
		if c.groups[gondola] == nil {
			c.groups[gondola] = map[int]bool{}
		}
		c.groups[gondola][fd] = true
	}
	// No other of its lines may come between.
	if @{apart} == 1 {
		c.@{fnCamel}(gondola, syscall.EPOLL_CTL_DEL)
	}
	syscall.Write(fd, fmt.Appendf(nil, "%7.3f\n", c.speed(gondola, wind, swing)))
	if @{apart} == 1 {
		c.@{fnCamel}(gondola, syscall.EPOLL_CTL_ADD)
	}
	c.units++
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	c := &control{lines: map[int]*line{}, groups: map[int]map[int]bool{}}
	var err error
	c.door, err = syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK, 0)
	must(err)
	syscall.SetsockoptInt(c.door, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
	must(syscall.Bind(c.door, &syscall.SockaddrInet4{Port: @{port}, Addr: [4]byte{127, 0, 0, 1}}))
	must(syscall.Listen(c.door, 512))
	c.list, err = syscall.EpollCreate1(0)
	must(err)
	c.change(syscall.EPOLL_CTL_ADD, c.door)
	busy, began := time.Duration(0), time.Now()
	ready := make([]syscall.EpollEvent, 64)
	for time.Since(began).Seconds() < @{seconds} {
		n, _ := syscall.EpollWait(c.list, ready, 200)
		start := time.Now()
		for i := 0; i < n; i++ {
			if fd := int(ready[i].Fd); fd == c.door {
				c.take()
			} else {
				c.hear(fd)
			}
		}
		busy += time.Since(start)
	}
	text, _ := json.Marshal(map[string]any{"units": c.units, "seconds": busy.Seconds(), "culprit": c.listing.Seconds()})
	must(os.WriteFile("@{report}", text, 0o644))
}
