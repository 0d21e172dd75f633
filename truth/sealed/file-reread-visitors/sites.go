// The web servers: ask by a datagram where visitors come from: `NUMBER ADDRESS...`, which is answered by `NUMBER COUNTRY...`.
package main

import (
	"fmt"
	"log"
	"math/rand"
	"net"
	"strings"
	"time"
)

func main() {
	socket, err := net.Dial("udp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		answer := make([]byte, 2048)
		for {
			if _, err := socket.Read(answer); err != nil {
				time.Sleep(50 * time.Millisecond)
			}
		}
	}()
	chance, began := rand.New(rand.NewSource(3)), time.Now()
	for number := 0; ; number++ {
		var question strings.Builder
		fmt.Fprint(&question, number)
		for range @{visitors} {
			fmt.Fprintf(&question, " %d.%d.%d.%d", 1+chance.Intn(222), chance.Intn(256), chance.Intn(256), chance.Intn(256))
		}
		socket.Write([]byte(question.String()))
		time.Sleep(time.Until(began.Add(time.Duration(number) * time.Second / @{rate})))
	}
}
