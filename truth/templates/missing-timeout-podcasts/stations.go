// Three radio stations, a port each: GET /shows/N is answered by the episodes of a show, a line each: date, seconds, title.
package main

import (
	"fmt"
	"log"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

const stops = @{stops}

type station struct {
	name  string
	shaky bool
	asked atomic.Int64
}

func (s *station) ServeHTTP(answer http.ResponseWriter, question *http.Request) {
	var show int
	fmt.Sscanf(question.URL.Path, "/shows/%d", &show)
	var text strings.Builder
	for episode := 1; episode <= @{episodes}; episode++ {
		day := (show*17 + episode*7) % 365
		fmt.Fprintf(&text, "2024-%02d-%02d\t%d\t%s, show %d: episode %d\n", day/31+1, day%28+1, 900+(show*episode*37)%3000, s.name, show, episode)
	}
	time.Sleep(time.Duration(@{taking} * float64(time.Millisecond)))
	answer.Header().Set("Content-Type", "text/tab-separated-values")
	answer.Header().Set("Content-Length", fmt.Sprint(text.Len()))
	if s.shaky && stops > 0 && s.asked.Add(1)%max(stops, 1) == 0 {
		answer.Write([]byte(text.String()[:text.Len()/2]))
		answer.(http.Flusher).Flush()
		<-question.Context().Done()
		return
	}
	answer.Write([]byte(text.String()))
}

func main() {
	go http.ListenAndServe("127.0.0.1:@{city}", &station{name: "Radio City"})
	go http.ListenAndServe("127.0.0.1:@{hills}", &station{name: "Hill FM"})
	log.Fatal(http.ListenAndServe("127.0.0.1:@{coast}", &station{name: "Coast One", shaky: true}))
}
