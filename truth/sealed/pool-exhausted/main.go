// Stock for the shop's pages: handlers give their question to a pool of workers.
package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
)

type question struct {
	article string
	answer  chan string
}

var questions = make(chan question, 1000)

//go:noinline
func @{fnCamel}(store net.Conn, answers *bufio.Reader, article string) string {
	fmt.Fprintf(store, "count %s\n", article)
	line, err := answers.ReadString('\n')
	if err != nil {
		return "unknown\n"
	}
	return line
}

func worker() {
	store, err := net.Dial("tcp", "127.0.0.1:@{store}")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	answers := bufio.NewReader(store)
	for q := range questions {
		q.answer <- @{fnCamel}(store, answers, q.article)
	}
}

func main() {
	for i := 0; i < @{workers}; i++ {
		go worker()
	}
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		q := question{r.URL.Path, make(chan string, 1)}
		questions <- q
		fmt.Fprint(w, <-q.answer)
	})
	if err := http.ListenAndServe("127.0.0.1:@{port}", nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
