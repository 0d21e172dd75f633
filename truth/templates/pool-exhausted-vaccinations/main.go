// The portal of a travel clinic: into which countries may a traveller go with the vaccinations that the registry knows of?
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"strings"
	"time"
)

const today = 20050

var kinds = []string{"yellow fever", "hepatitis A", "hepatitis B", "typhoid", "rabies", "cholera", "polio", "measles"}

type dose struct {
	Against string `json:"against"`
	Day     int    `json:"day"`
}

type country struct {
	Code  string
	Wants []string
}

type entry struct {
	Code    string   `json:"code"`
	Missing []string `json:"missing,omitempty"`
	Until   int      `json:"until,omitempty"`
}

type portal struct {
	registry  *http.Client
	countries []country
}

func newPortal() *portal {
	p := &portal{registry: &http.Client{
		Timeout:   15 * time.Second,
		Transport: &http.Transport{MaxConnsPerHost: @{pool}, MaxIdleConnsPerHost: @{pool}},
	}}
	for i := 0; i < @{countries}; i++ {
		one := country{Code: string(rune('A'+i%26)) + string(rune('A'+i*7%26))}
		for k, kind := range kinds {
			if (i*5+k*3)%4 == 0 {
				one.Wants = append(one.Wants, kind)
			}
		}
		p.countries = append(p.countries, one)
	}
	return p
}

//go:noinline
func (p *portal) @{fnCamel}(person string) (doses []dose, err error) {
	answer, err := p.registry.Get("http://127.0.0.1:@{registry}/persons/" + person + "/doses")
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("registry: %s", answer.Status)
	}
	err = json.NewDecoder(answer.Body).Decode(&doses)
	return doses, err
}

func lasts(kind string) int {
	switch kind {
	case "yellow fever":
		return 36500
	case "typhoid":
		return 1095
	case "cholera":
		return 730
	}
	return 3650
}

func (p *portal) admitted(doses []dose) []entry {
	until := map[string]int{}
	for _, one := range doses {
		until[one.Against] = max(until[one.Against], one.Day+lasts(one.Against))
	}
	entries := make([]entry, 0, len(p.countries))
	for _, one := range p.countries {
		found := entry{Code: one.Code, Until: 1 << 20}
		for _, kind := range one.Wants {
			if until[kind] < today {
				found.Missing = append(found.Missing, kind)
			}
			found.Until = min(found.Until, until[kind])
		}
		if found.Missing != nil {
			found.Until = 0
		}
		entries = append(entries, found)
	}
	return entries
}

func main() {
	p := newPortal()
	http.HandleFunc("/travellers/", func(answer http.ResponseWriter, question *http.Request) {
		words := strings.Split(question.URL.Path, "/")
		if len(words) != 4 || words[3] != "entry" {
			http.NotFound(answer, question)
			return
		}
		doses, err := p.@{fnCamel}(words[2])
		if err != nil {
			http.Error(answer, err.Error(), http.StatusBadGateway)
			return
		}
		answer.Header().Set("Content-Type", "application/json")
		json.NewEncoder(answer).Encode(p.admitted(doses))
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:@{port}", nil))
}
