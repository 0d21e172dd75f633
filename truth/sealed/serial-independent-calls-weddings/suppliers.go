// The suppliers of weddings, each at an address of its own: says whether it is free on a day, and for how much.
package main

import (
	"encoding/json"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

type answer struct {
	Day    int      `json:"day"`
	Free   bool     `json:"free"`
	Price  int      `json:"price"`
	Extras []string `json:"extras"`
}

func supplier(number int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		day, err := strconv.Atoi(r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:])
		if err != nil {
			http.NotFound(w, r)
			return
		}
		time.Sleep(time.Duration(@{takes} * (0.85 + 0.05*float64(number)) * float64(time.Millisecond)))
		says := answer{Day: day + (day+number)%2, Free: (day*7+number)%9 != 0, Price: 400 + day*number%900}
		for i := 0; i < @{extras}; i++ {
			says.Extras = append(says.Extras, "extra "+strconv.Itoa(i*number))
		}
		text, _ := json.Marshal(says)
		w.Header().Set("Content-Type", "application/json")
		w.Write(text)
	})
}

func main() {
	for number := 1; number <= 6; number++ {
		door, err := net.Listen("tcp", "127.0.@{net}.1"+strconv.Itoa(number)+":@{desk}")
		if err != nil {
			log.Fatal(err)
		}
		go http.Serve(door, supplier(number))
	}
	if err := os.WriteFile("@{work}/suppliers.up", nil, 0o644); err != nil {
		log.Fatal(err)
	}
	select {}
}
