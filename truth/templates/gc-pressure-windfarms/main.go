// Watches a wind farm: readings of all turbines in each round, and which turbine gives less power than its neighbours in that wind.
package main

import (
	"encoding/json"
	"math"
	"os"
	"runtime/metrics"
	"strconv"
	"time"
)

const turbines, samples, minutes = @{turbines}, @{samples}, @{minutes}

type channel struct {
	name  string
	value *float64
}

type reading struct {
	turbine  string
	channels []*channel
	before   *reading
}

// The readings of the last rounds, by columns.
type columns struct {
	wind, power [minutes][]float64
}

type model struct {
	bin  int
	mean float64
	next *model
}

var seed uint32 = 2463534242

func draw() float64 {
	seed ^= seed << 13
	seed ^= seed >> 17
	seed ^= seed << 5
	return float64(seed%10000) / 10000
}

func measure(turbine int) (wind, power float64) {
	wind = 4 + 14*draw()
	power = math.Min(3000, 0.9*wind*wind*wind*(1-0.02*float64(turbine%5)))
	return wind, power
}

var history [minutes][]*reading
var latest [turbines]*reading
var kept columns

func @{fnCamel}(round int) []*reading {
	var found []*reading
	for t := 0; t < turbines; t++ {
		latest[t] = nil
		for s := 0; s < samples; s++ {
			wind, power := measure(t)
			one := &reading{turbine: "wtg-" + strconv.Itoa(t), before: latest[t]}
			one.channels = append(one.channels, &channel{"wind", &wind})
			one.channels = append(one.channels, &channel{"power", &power})
			latest[t] = one
			found = append(found, one)
		}
	}
	history[round%minutes] = found
	return found
}

func fill(round int) {
	wind, power := kept.wind[round%minutes][:0], kept.power[round%minutes][:0]
	for t := 0; t < turbines; t++ {
		for s := 0; s < samples; s++ {
			w, p := measure(t)
			wind, power = append(wind, w), append(power, p)
		}
	}
	kept.wind[round%minutes], kept.power[round%minutes] = wind, power
}

// What is missing to the power that such a wind gives, for the worst of the turbines.
func worst(at func(i int) (wind, power float64)) (int, float64) {
	turbine, most := 0, 0.0
	for t := 0; t < turbines; t++ {
		missing := 0.0
		for s := 0; s < samples; s++ {
			wind, power := at(t*samples + s)
			missing += math.Max(0, 0.9*math.Pow(wind, 3)-power) / (1 + math.Sqrt(wind))
		}
		if missing > most {
			turbine, most = t, missing
		}
	}
	return turbine, most
}

func learn() *model {
	var first *model
	for i := 0; i < @{models}; i++ {
		first = &model{i % 40, draw(), first}
	}
	return first
}

func collecting() float64 {
	both := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/cpu/classes/gc/mark/idle:cpu-seconds"}}
	metrics.Read(both)
	return both[0].Value.Float64() - both[1].Value.Float64()
}

func main() {
	models := learn()
	alarms := map[int]int{}
	before := collecting()
	began, busy, round := time.Now(), time.Duration(0), 0
	for ; time.Since(began).Seconds() < @{seconds}; round++ {
		start := time.Now()
		var turbine int
		if "@{form}" == "records" {
			found := @{fnCamel}(round)
			turbine, _ = worst(func(i int) (float64, float64) { return *found[i].channels[0].value, *found[i].channels[1].value })
		} else {
			fill(round)
			wind, power := kept.wind[round%minutes], kept.power[round%minutes]
			turbine, _ = worst(func(i int) (float64, float64) { return wind[i], power[i] })
		}
		alarms[turbine]++
		busy += time.Since(start)
		time.Sleep(time.Until(began.Add(time.Duration(float64(round+1) / @{rate} * 1e9))))
	}
	culprit := math.Min(collecting()-before, busy.Seconds())
	if models != nil && models.mean < 0 {
		return
	}
	text, _ := json.Marshal(map[string]any{"units": round, "seconds": busy.Seconds(), "culprit": culprit})
	os.WriteFile("@{report}", text, 0o644)
}
