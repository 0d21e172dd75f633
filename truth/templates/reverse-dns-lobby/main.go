// The lobby of a go club: who joins gets a board, and the secretary a line in the book.
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

const every = @{every}

var names = net.Resolver{
	PreferGo: true,
	Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", "@{names}:53")
	},
}

//go:noinline
func @{fnCamel}(address string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	found, err := names.LookupAddr(ctx, address)
	if err != nil || len(found) == 0 {
		return address
	}
	return strings.TrimSuffix(found[0], ".")
}

func board(player int) string {
	colour := "black"
	if player%2 == 1 {
		colour = "white"
	}
	return fmt.Sprintf("board %d, %s, %d stones ahead", player/2%19, colour, player%9)
}

func welcome(client net.Conn, number int, book *os.File) {
	defer client.Close()
	who, _, _ := net.SplitHostPort(client.RemoteAddr().String())
	if every == 1 {
		who = @{fnCamel}(who)
	}
	line, err := bufio.NewReader(client).ReadString('\n')
	if err != nil {
		return
	}
	_, text, _ := strings.Cut(strings.TrimSpace(line), " ")
	player, _ := strconv.Atoi(text)
	fmt.Fprintln(client, board(player))
	client.Close()
	if every > 1 && number%max(1, every) == 0 {
		who = @{fnCamel}(who)
	}
	fmt.Fprintf(book, "%d;%d;%s\n", number, player, who)
}

func main() {
	book, err := os.OpenFile("@{work}/book.txt", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		log.Fatal(err)
	}
	door, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	for number := 0; ; number++ {
		client, err := door.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go welcome(client, number, book)
	}
}
