// Sends the circulars of a rowing club: "circular N" mails number N to its crew, and is answered by what the relay said.
package main

import (
	"bufio"
	"fmt"
	"log"
	"net"
	"net/textproto"
	"strings"
)

type member struct{ name, address string }

type circular struct {
	number int
	to     []member
	text   string
	seal   uint64
}

var boats = []string{"Albatros", "Heron", "Kingfisher", "Otter", "Pike"}

func crewOf(number int) []member {
	crew := make([]member, @{members})
	for seat := range crew {
		who := (number*31 + seat*17) % 900
		crew[seat] = member{fmt.Sprintf("Rower %d", who), fmt.Sprintf("rower%d@club.example", who)}
	}
	return crew
}

func compose(number int) circular {
	var text strings.Builder
	boat := boats[number%len(boats)]
	fmt.Fprintf(&text, "From: Boathouse <boathouse@club.example>\r\nSubject: %s, outing %d\r\n\r\n", boat, number)
	for week := 1; week <= 30; week++ {
		fmt.Fprintf(&text, "Week %d: %s leaves the stage at %d:%02d, bring water and a spare jersey.\r\n", week, boat, 6+(number+week)%12, number*week%60)
	}
	body := text.String()
	seal := uint64(14695981039346656037)
	for round := 0; round < @{rounds}; round++ {
		for i := 0; i < len(body); i++ {
			seal = (seal ^ uint64(body[i])) * 1099511628211
		}
	}
	return circular{number, crewOf(number), body, seal}
}

// session is one conversation with the relay, used for one circular after the other.
type session struct{ *textproto.Conn }

func dial() (*session, error) {
	conn, err := textproto.Dial("tcp", "127.0.0.1:@{relay}")
	if err != nil {
		return nil, err
	}
	s := &session{conn}
	if _, _, err = s.ReadResponse(220); err == nil {
		_, err = s.command(250, "EHLO boathouse.club.example")
	}
	return s, err
}

func (s *session) command(code int, format string, arguments ...any) (string, error) {
	if err := s.PrintfLine(format, arguments...); err != nil {
		return "", err
	}
	_, said, err := s.ReadResponse(code)
	return said, err
}

func (s *session) text(c circular) (string, error) {
	out := s.DotWriter()
	fmt.Fprintf(out, "X-Seal: %016x\r\n%s", c.seal, c.text)
	if err := out.Close(); err != nil {
		return "", err
	}
	_, said, err := s.ReadResponse(250)
	return said, err
}

//go:noinline
func (s *session) @{fnCamel}(c circular) (string, error) {
	if @{ahead} == 1 {
		fmt.Fprintf(s.W, "MAIL FROM:<boathouse@club.example>\r\n")
		for _, one := range c.to {
			fmt.Fprintf(s.W, "RCPT TO:<%s>\r\n", one.address)
		}
		if err := s.PrintfLine("DATA"); err != nil {
			return "", err
		}
		for range len(c.to) + 1 {
			if _, _, err := s.ReadResponse(250); err != nil {
				return "", err
			}
		}
		if _, _, err := s.ReadResponse(354); err != nil {
			return "", err
		}
		return s.text(c)
	}
	if _, err := s.command(250, "MAIL FROM:<boathouse@club.example>"); err != nil {
		return "", err
	}
	for _, one := range c.to {
		if _, err := s.command(250, "RCPT TO:<%s>", one.address); err != nil {
			return "", fmt.Errorf("%s: %w", one.name, err)
		}
	}
	if _, err := s.command(354, "DATA"); err != nil {
		return "", err
	}
	return s.text(c)
}

func serve(caller net.Conn) {
	defer caller.Close()
	mail, err := dial()
	if err != nil {
		log.Print("relay: ", err)
		return
	}
	defer mail.Close()
	for lines := bufio.NewScanner(caller); lines.Scan(); {
		var number int
		if _, err := fmt.Sscanf(lines.Text(), "circular %d", &number); err != nil {
			fmt.Fprintln(caller, "which circular?")
			continue
		}
		said, err := mail.@{fnCamel}(compose(number))
		if err != nil {
			log.Print(number, ": ", err)
			return
		}
		fmt.Fprintf(caller, "%d %s\n", number, said)
	}
}

func main() {
	door, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		caller, err := door.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(caller)
	}
}
