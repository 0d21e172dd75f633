// A post office: the part of IMAP that readers of mailboxes need. Looks each command up in its index on a disk.
package main

import (
	"bufio"
	"fmt"
	"log"
	"net"
	"strconv"
	"strings"
	"time"
)

const unseen = @{unseen}

var topics = []string{"Delivery of pallets", "Re: offer", "Invoice", "Holiday in August", "Complaint about lids", "Keys of the hall"}

func head(box string, uid int) string {
	return fmt.Sprintf("From: writer%d@example.org\r\nSubject: %s %d\r\nDate: %d Mar 2024 10:%02d:00 +0100\r\nTo: %s@firm.example\r\n\r\n",
		uid%37, topics[uid%len(topics)], uid, uid%28+1, uid%60, box)
}

func answer(out *bufio.Writer, box *string, tag, command string) {
	words := strings.Fields(command)
	verb := strings.ToUpper(words[0])
	if verb == "UID" {
		verb += " " + strings.ToUpper(words[1])
	}
	switch verb {
	case "CAPABILITY":
		fmt.Fprint(out, "* CAPABILITY IMAP4rev1\r\n")
	case "SELECT", "EXAMINE":
		*box = strings.Trim(words[1], `"`)
		fmt.Fprintf(out, "* %d EXISTS\r\n* 0 RECENT\r\n* FLAGS (\\Seen)\r\n* OK [UIDVALIDITY 1] valid\r\n", unseen+400)
	case "UID SEARCH":
		fmt.Fprint(out, "* SEARCH")
		for n := 0; n < unseen; n++ {
			fmt.Fprintf(out, " %d", 4001+n*3)
		}
		fmt.Fprint(out, "\r\n")
	case "UID FETCH":
		for _, one := range strings.Split(words[2], ",") {
			uid, _ := strconv.Atoi(one)
			text := head(*box, uid)
			fmt.Fprintf(out, "* %d FETCH (UID %d RFC822.SIZE %d BODY[HEADER.FIELDS (FROM SUBJECT DATE TO)] {%d}\r\n%s)\r\n", (uid-4001)/3+401, uid, 900+uid*7%5000, len(text), text)
		}
	}
	fmt.Fprintf(out, "%s OK done\r\n", tag)
}

func serve(line net.Conn) {
	defer line.Close()
	in, out := bufio.NewReader(line), bufio.NewWriter(line)
	box := ""
	fmt.Fprint(out, "* OK post office\r\n")
	for out.Flush() == nil {
		text, err := in.ReadString('\n')
		tag, command, found := strings.Cut(strings.TrimSpace(text), " ")
		if err != nil || !found {
			return
		}
		time.Sleep(time.Duration(@{answer} * float64(time.Millisecond)))
		answer(out, &box, tag, command)
	}
}

func main() {
	door, err := net.Listen("tcp", "127.0.0.1:@{imap}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		if line, err := door.Accept(); err == nil {
			go serve(line)
		}
	}
}
