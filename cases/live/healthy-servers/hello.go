// Answers hello: hello PORT.
package main

import (
	"fmt"
	"net/http"
	"os"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "hello") })
	http.ListenAndServe("127.0.0.1:"+os.Args[1], nil)
}
