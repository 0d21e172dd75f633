// The pages of a league: the ten best, as they are now. A visit counts as a win for the visitor's favourite.
package main

import (
	"bufio"
	"fmt"
	"html"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
)

type ranking struct {
	connection net.Conn
	answers    *bufio.Reader
}

var idle = make(chan *ranking, 64)

func connected() (*ranking, error) {
	select {
	case free := <-idle:
		return free, nil
	default:
	}
	connection, err := net.Dial("tcp", "127.0.0.1:@{ranking}")
	if err != nil {
		return nil, err
	}
	return &ranking{connection, bufio.NewReader(connection)}, nil
}

//go:noinline
func @{fnCamel}(visit int) (string, error) {
	places, err := connected()
	if err != nil {
		return "", err
	}
	fmt.Fprintf(places.connection, "won %d %d\n", visit%@{leagues}, visit*7)
	line, err := places.answers.ReadString('\n')
	if err != nil {
		return "", err
	}
	idle <- places
	var page strings.Builder
	fmt.Fprintf(&page, "<!doctype html><title>League %d</title><table>", visit%@{leagues})
	for place, row := range strings.Fields(line) {
		player, points, _ := strings.Cut(row, ":")
		fmt.Fprintf(&page, "<tr><td>%d<td>player %s<td>%s</tr>", place+1, html.EscapeString(player), html.EscapeString(points))
	}
	page.WriteString("</table>")
	return page.String(), nil
}

func main() {
	http.HandleFunc("/league/", func(w http.ResponseWriter, r *http.Request) {
		visit, _ := strconv.Atoi(strings.Split(r.URL.Path, "/")[2])
		page, err := @{fnCamel}(visit)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		w.Write([]byte(page))
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:@{port}", nil))
}
