// The cabinet: keeps what is known of specimens, and gives it by the text protocol of memcached: "get KEY..." is answered by
// "VALUE KEY FLAGS LENGTH", the value, and "END".
package main

import (
	"bufio"
	"fmt"
	"log"
	"net"
	"strings"
	"time"
)

var plants = []string{"Abies alba", "Betula pendula", "Carex nigra", "Drosera rotundifolia", "Erica tetralix", "Festuca ovina", "Gentiana lutea"}

func value(key string) string {
	number := 7
	for _, letter := range key {
		number = (number*31 + int(letter)) % 1000003
	}
	return fmt.Sprintf("name=%s&place=%d.%04d,%d.%04d&collector=%d&year=%d&height=%d", plants[number%len(plants)],
		40+number%15, number%10000, 5+number%12, number/7%10000, number%211, 1850+number%160, number%2900)
}

func serve(desk net.Conn) {
	defer desk.Close()
	out := bufio.NewWriter(desk)
	for lines := bufio.NewScanner(desk); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) < 2 || words[0] != "get" {
			out.WriteString("ERROR\r\n")
			out.Flush()
			continue
		}
		// The cabinet is in another building.
		time.Sleep(time.Duration(@{reach} * float64(time.Millisecond)))
		for _, key := range words[1:] {
			text := value(key)
			fmt.Fprintf(out, "VALUE %s 0 %d\r\n%s\r\n", key, len(text), text)
		}
		out.WriteString("END\r\n")
		if out.Flush() != nil {
			return
		}
	}
}

func main() {
	door, err := net.Listen("unix", "@{work}/@{sock}")
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
