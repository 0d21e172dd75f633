// Offers for weddings: reads enquiries, asks the suppliers for the day, and writes what all of it would cost.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

type answer struct {
	Day   int  `json:"day"`
	Free  bool `json:"free"`
	Price int  `json:"price"`
}

type supplier struct{ name, base string }

type office struct {
	client    *http.Client
	suppliers []supplier

	mu           sync.Mutex
	units        int
	busy, asking time.Duration
}

func (o *office) ask(s supplier, day int) (says answer, err error) {
	reply, err := o.client.Get(fmt.Sprintf("%s/%s/days/%d", s.base, s.name, day))
	if err != nil {
		return says, err
	}
	defer reply.Body.Close()
	err = json.NewDecoder(reply.Body).Decode(&says)
	return says, err
}

func (o *office) @{fnCamel}(day int) ([]answer, error) {
	answers := make([]answer, len(o.suppliers))
	failed := make([]error, len(o.suppliers))
	var all sync.WaitGroup
	for i, s := range o.suppliers {
		if "@{order}" == "once" {
			all.Add(1)
			go func(i int, s supplier) {
				defer all.Done()
				answers[i], failed[i] = o.ask(s, day)
			}(i, s)
			continue
		}
		if answers[i], failed[i] = o.ask(s, day); failed[i] != nil {
			return nil, failed[i]
		}
		if "@{order}" == "agree" {
			day = answers[i].Day
		}
	}
	all.Wait()
	for _, err := range failed {
		if err != nil {
			return nil, err
		}
	}
	return answers, nil
}

func (o *office) plan(mailbox net.Conn, end time.Time) {
	defer mailbox.Close()
	for enquiries := bufio.NewScanner(mailbox); time.Now().Before(end) && enquiries.Scan(); {
		start := time.Now()
		var number string
		var day, guests int
		if _, err := fmt.Sscanf(enquiries.Text(), "enquiry %s %d %d", &number, &day, &guests); err != nil {
			log.Fatal(err)
		}
		before := time.Now()
		answers, err := o.@{fnCamel}(day)
		if err != nil {
			log.Fatal(err)
		}
		asking := time.Since(before)
		price, free := guests*78, 0
		for _, a := range answers {
			price += a.Price
			if a.Free {
				free++
			}
		}
		fmt.Fprintf(mailbox, "offer %s %d %d of %d\n", number, price, free, len(answers))
		o.mu.Lock()
		o.units++
		o.busy += time.Since(start)
		o.asking += asking
		o.mu.Unlock()
	}
}

func main() {
	o := &office{client: &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: @{planners}}}}
	for i, name := range []string{"venue", "kitchen", "band", "flowers", "pictures", "cars"} {
		o.suppliers = append(o.suppliers, supplier{name, fmt.Sprintf("http://127.0.@{net}.%d:@{desk}", 11+i)})
	}
	end := time.Now().Add(time.Duration(@{seconds} * float64(time.Second)))
	var planners sync.WaitGroup
	for i := 0; i < @{planners}; i++ {
		mailbox, err := net.Dial("tcp", "127.0.0.1:@{mailbox}")
		if err != nil {
			log.Fatal(err)
		}
		planners.Add(1)
		go func() {
			defer planners.Done()
			o.plan(mailbox, end)
		}()
	}
	planners.Wait()
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, o.units, o.busy.Seconds(), o.asking.Seconds())
	if err := os.WriteFile("@{report}", []byte(text), 0o644); err != nil {
		log.Fatal(err)
	}
}
