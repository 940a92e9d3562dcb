package place

import (
	"fmt"
	"os"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
)

// usualBoard is the board that all but the first table are about.
var usualBoard = &populations[1]

// prices are those of each goal, on each board, with each inputs.
func (m *measurement) prices() error {
	t := lab.NewTable("board", "inputs", ">enter Running", "elsewhere", ">be in the first ten", "elsewhere", ">hold it for an hour", "elsewhere", ">with a score of")
	var plans []string
	for i := range populations {
		for j := range allInputs {
			row := []string{populations[i].name, allInputs[j].name}
			var from []plan
			var last *found
			for _, g := range []goal{holdAnHour, beAmongTen, enterRunning} { // who holds a place has entered: the others begin with that plan
				f, err := m.search(&populations[i], &allInputs[j], g, anyFamily, from...)
				if err != nil {
					return err
				}
				if from = append(from, f.plan); last == nil {
					last = f
				}
				row = append(row[:2], append([]string{f.cell(), f.elsewhere()}, row[2:]...)...)
			}
			t.Add(append(row, fmt.Sprintf("%.1f", last.best))...)
			plans = append(plans, fmt.Sprintf("- %s, %s: `%s`", populations[i].name, allInputs[j].name, last.json()))
		}
	}
	if err := t.Write(os.Stdout); err != nil {
		return err
	}
	return list("The plans that held the first ten for an hour:", plans)
}

// list writes lines.
func list(about string, lines []string) error {
	if _, err := fmt.Println(about + "\n"); err != nil {
		return err
	}
	for _, l := range lines {
		if _, err := fmt.Println(l); err != nil {
			return err
		}
	}
	_, err := fmt.Println()
	return err
}

// venues are the prices of an hour by where the token is launched.
func (m *measurement) venues() error {
	return m.families("launched in", func() (out []family) {
		for i := range venues {
			out = append(out, family{venues[i].name, func(p *plan) { p.Venue = i }})
		}
		return out
	}())
}

// kinds are the prices of an hour by the kind of attack, on the venue of which the creator gets half of the fees or less.
func (m *measurement) kinds() error {
	list := make([]family, len(families))
	for i, f := range families {
		list[i] = family{f.name, func(p *plan) {
			f.make(p)
			p.Venue %= 2
		}}
	}
	return m.families("attack", list)
}

// families is a table of an hour among the first ten of the usual board, with a row for each family.
func (m *measurement) families(of string, list []family) error {
	header := []string{of}
	for i := range allInputs {
		header = append(header, ">"+allInputs[i].name, "elsewhere")
	}
	t := lab.NewTable(header...)
	for _, f := range list {
		row := []string{f.name}
		for i := range allInputs {
			best, err := m.search(usualBoard, &allInputs[i], holdAnHour, f)
			if err != nil {
				return err
			}
			row = append(row, best.cell(), best.elsewhere())
		}
		t.Add(row...)
	}
	return t.Write(os.Stdout)
}

// time is how the price grows with how long the place is held.
func (m *measurement) time() error {
	header := []string{"hours among the first ten"}
	for i := range allInputs {
		header = append(header, ">"+allInputs[i].name, "elsewhere")
	}
	t := lab.NewTable(header...)
	from := make([][]plan, len(allInputs))
	for _, hours := range []int64{1, 4, 12, 24} {
		row := []string{fmt.Sprint(hours)}
		for i := range allInputs {
			best, err := m.search(usualBoard, &allInputs[i], goal{fmt.Sprintf("hold the first ten for %d h", hours), true, hours * hour}, anyFamily, from[i]...)
			if err != nil {
				return err
			}
			from[i] = append(from[i], best.plan)
			row = append(row, best.cell(), best.elsewhere())
		}
		t.Add(row...)
	}
	return t.Write(os.Stdout)
}

// harms are by which parts a score is lowered.
var harms = []float64{0.05, 0.5}

// harm is what it costs to lower the score of an honest launch for an hour: the median over those of the first ten.
func (m *measurement) harm() error {
	b, err := m.board(usualBoard, m.seed, hour)
	if err != nil {
		return err
	}
	var all []*victim
	for _, n := range b.honest[:min(3, len(b.honest))] {
		v, err := newVictim(b, n)
		if err != nil {
			return err
		}
		all = append(all, v)
	}
	header := []string{"the score falls by"}
	for i := range allInputs {
		header = append(header, ">"+allInputs[i].name)
	}
	t := lab.NewTable(header...)
	for _, fall := range harms {
		row := []string{fmt.Sprintf("%.0f %%", 100*fall)}
		for i := range allInputs {
			price, err := m.harmOf(all, &allInputs[i], fall)
			if err != nil {
				return err
			}
			row = append(row, price)
		}
		t.Add(row...)
	}
	return t.Write(os.Stdout)
}

// harmOf is the median price over victims.
func (m *measurement) harmOf(all []*victim, in *inputs, fall float64) (string, error) {
	var prices []float64
	for _, v := range all {
		f, err := m.hunt(fmt.Sprintf("%s inputs, to lower a score by %.0f %%", in.name, 100*fall), anyFamily, nil, func(p *plan) (trial, error) {
			return v.try(p, in, fall, m.seed)
		})
		if err != nil {
			return "", err
		}
		if f.reached {
			prices = append(prices, f.price)
		}
	}
	if len(prices) < len(all) {
		return "not reached", nil
	}
	middle := lab.Middle(prices)
	return fmt.Sprintf("%.*f", decimals(middle), middle), nil
}
