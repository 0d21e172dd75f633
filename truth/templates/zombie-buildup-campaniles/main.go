// The controller of a carillon: rings the changes that it is asked for, and has them announced.
package main

import (
	"bufio"
	"fmt"
	"log"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// Plain hunt on the bells: the order of the row.
func change(row int) string {
	bells := make([]int, @{bells})
	for at := range bells {
		bells[at] = at + 1
	}
	for step := 0; step < row%(2*@{bells}); step++ {
		for at := step % 2; at+1 < len(bells); at += 2 {
			bells[at], bells[at+1] = bells[at+1], bells[at]
		}
	}
	return strings.Trim(fmt.Sprint(bells), "[]")
}

func @{fn}(row int, text string) error {
	if "@{after}" == "next time" {
		for {
			if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 || err != nil {
				break
			}
		}
	}
	board := filepath.Join("@{work}/@{towers}", fmt.Sprintf("board-%d", row%12))
	command := exec.Command("@{work}/@{announcer}", board, text)
	if err := command.Start(); err != nil {
		return err
	}
	if "@{after}" == "awaited" {
		go command.Wait()
	}
	return nil
}

func serve(line net.Conn) {
	defer line.Close()
	asked := bufio.NewScanner(line)
	for asked.Scan() {
		row := 0
		fmt.Sscanf(asked.Text(), "ring %d", &row)
		text := change(row)
		if err := @{fn}(row, text); err != nil {
			fmt.Fprintf(line, "error %v\n", err)
			continue
		}
		fmt.Fprintf(line, "rung %s\n", text)
	}
}

func main() {
	door, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		line, err := door.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(line)
	}
}
