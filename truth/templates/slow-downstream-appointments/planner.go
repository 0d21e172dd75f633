// The planner knows who is on duty and how long each treatment takes. "plan DAY TREATMENT" is answered by "DOCTOR@QUARTER DOCTOR@QUARTER …".
package main

import (
	"bufio"
	"fmt"
	"log"
	"net"
	"strconv"
	"strings"
)

type treatment struct{ quarters, skill int }

var treatments = []treatment{{1, 3}, {2, 5}, {1, 7}, {3, 11}, {2, 2}}

func onDuty(day int, t treatment) []string {
	var doctors []string
	for d := 0; len(doctors) < @{asked}; d++ {
		doctors = append(doctors, strconv.Itoa((day*t.skill+d)%@{doctors}))
	}
	return doctors
}

// long enough in one piece for the treatment
func fitting(free []string, quarters int) []string {
	var out []string
	run, before := 0, -2
	for _, word := range free {
		quarter, err := strconv.Atoi(word)
		if err != nil {
			continue
		}
		if quarter == before+1 {
			run++
		} else {
			run = 1
		}
		before = quarter
		if run >= quarters {
			out = append(out, strconv.Itoa(quarter-quarters+1))
		}
	}
	return out
}

func serve(desk net.Conn) {
	defer desk.Close()
	book, err := net.Dial("unix", "@{work}/@{sock}")
	if err != nil {
		log.Print(err)
		return
	}
	defer book.Close()
	answers := bufio.NewReaderSize(book, 1<<16)
	lines := bufio.NewScanner(desk)
	for lines.Scan() {
		var day, kind int
		if _, err := fmt.Sscanf(lines.Text(), "plan %d %d", &day, &kind); err != nil {
			fmt.Fprintln(desk, "error")
			continue
		}
		t := treatments[kind%len(treatments)]
		fmt.Fprintf(book, "free %d %s\n", day, strings.Join(onDuty(day, t), ","))
		answer, err := answers.ReadString('\n')
		if err != nil {
			return
		}
		var out []string
		for _, page := range strings.Fields(answer) {
			doctor, free, _ := strings.Cut(page, ":")
			for _, quarter := range fitting(strings.Split(free, ","), t.quarters) {
				out = append(out, doctor+"@"+quarter)
			}
		}
		if _, err := desk.Write([]byte(strings.Join(out, " ") + "\n")); err != nil {
			return
		}
	}
}

func main() {
	door, err := net.Listen("tcp", "127.0.0.1:@{planner}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		desk, err := door.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(desk)
	}
}
