// Writes a digest of what is new in each of the firm's shared mailboxes.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/mail"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"
)

const fields = "(UID RFC822.SIZE BODY.PEEK[HEADER.FIELDS (FROM SUBJECT DATE TO)])"

type letter struct {
	from, topic string
	date        time.Time
	size        int
}

// What the server says before it is done: a line, and the literal that it announces.
type said struct {
	line    string
	literal []byte
}

type imap struct {
	conn net.Conn
	in   *bufio.Reader
	tag  int
}

func dial() (*imap, error) {
	conn, err := net.Dial("tcp", "127.0.0.1:@{imap}")
	if err != nil {
		return nil, err
	}
	c := &imap{conn: conn, in: bufio.NewReader(conn)}
	if _, err := c.in.ReadString('\n'); err != nil {
		return nil, err
	}
	_, err = c.command("LOGIN digest secret")
	return c, err
}

func (c *imap) command(text string) ([]said, error) {
	c.tag++
	tag := fmt.Sprintf("a%04d", c.tag)
	if _, err := fmt.Fprintf(c.conn, "%s %s\r\n", tag, text); err != nil {
		return nil, err
	}
	var all []said
	for {
		line, err := c.in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		line = strings.TrimRight(line, "\r\n")
		if rest, ours := strings.CutPrefix(line, tag+" "); ours {
			if !strings.HasPrefix(rest, "OK") {
				return nil, errors.New(rest)
			}
			return all, nil
		}
		one := said{line: line}
		if open := strings.LastIndexByte(line, '{'); open > 0 && strings.HasSuffix(line, "}") {
			length, err := strconv.Atoi(line[open+1 : len(line)-1])
			if err != nil {
				return nil, err
			}
			one.literal = make([]byte, length)
			if _, err := io.ReadFull(c.in, one.literal); err != nil {
				return nil, err
			}
		}
		all = append(all, one)
	}
}

func (c *imap) unseen(box string) ([]string, error) {
	if _, err := c.command("EXAMINE " + box); err != nil {
		return nil, err
	}
	answer, err := c.command("UID SEARCH UNSEEN")
	for _, one := range answer {
		if found, ok := strings.CutPrefix(one.line, "* SEARCH"); ok {
			return strings.Fields(found), err
		}
	}
	return nil, err
}

func letters(answer []said) []letter {
	var all []letter
	for _, one := range answer {
		message, err := mail.ReadMessage(bytes.NewReader(one.literal))
		if err != nil {
			continue
		}
		date, _ := message.Header.Date()
		topic := strings.TrimRight(strings.TrimPrefix(message.Header.Get("Subject"), "Re: "), " 0123456789")
		found := letter{from: message.Header.Get("From"), topic: topic, date: date}
		if at := strings.Index(one.line, "RFC822.SIZE "); at >= 0 {
			fmt.Sscan(one.line[at+12:], &found.size)
		}
		all = append(all, found)
	}
	return all
}

//go:noinline
func (c *imap) @{fnCamel}(uids []string) ([]letter, error) {
	if "@{fetch}" == "set" {
		answer, err := c.command("UID FETCH " + strings.Join(uids, ",") + " " + fields)
		return letters(answer), err
	}
	var all []letter
	for _, uid := range uids {
		answer, err := c.command("UID FETCH " + uid + " " + fields)
		if err != nil {
			return nil, err
		}
		all = append(all, letters(answer)...)
	}
	return all, nil
}

func digest(box string, all []letter) []byte {
	sort.Slice(all, func(i, j int) bool {
		if all[i].topic != all[j].topic {
			return all[i].topic < all[j].topic
		}
		return all[i].date.Before(all[j].date)
	})
	var text bytes.Buffer
	size := 0
	for _, one := range all {
		size += one.size
		fmt.Fprintf(&text, "  %-24s %s  %s\n", one.topic, one.date.Format(time.DateTime), one.from)
	}
	return fmt.Appendf(nil, "%s: %d new letters, %d bytes\n%s", box, len(all), size, text.Bytes())
}

func main() {
	office, err := dial()
	if err != nil {
		log.Fatal(err)
	}
	var busy, fetching time.Duration
	units, began := 0, time.Now()
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		box := fmt.Sprintf("team%d", units%@{boxes})
		uids, err := office.unseen(box)
		if err != nil {
			log.Fatal(err)
		}
		asked := time.Now()
		found, err := office.@{fnCamel}(uids)
		if err != nil {
			log.Fatal(err)
		}
		fetching += time.Since(asked)
		if err := os.WriteFile(filepath.Join("@{work}", box+".digest"), digest(box, found), 0o644); err != nil {
			log.Fatal(err)
		}
		units++
		busy += time.Since(start)
		time.Sleep(time.Until(began.Add(time.Duration(float64(units) / @{rate} * 1e9))))
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), fetching.Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
