package place

import (
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
)

// usualBoard is the board that all but the first table are about.
var usualBoard = &populations[1]

// markets are the boards as they are without an attack.
func (m *measurement) markets() error {
	t := lab.NewTable("board", ">launches with 40 buyers or more", ">curves that were filled", ">in Running, median", ">score of the first, median", ">of the tenth, median", ">lowest of the tenth")
	for i := range populations {
		b, err := m.board(&populations[i], m.seed, hour)
		if err != nil {
			return err
		}
		running, first, tenth := make([]float64, len(b.first)), make([]float64, len(b.first)), make([]float64, len(b.first))
		for j := range b.first {
			running[j], first[j], tenth[j] = float64(b.running[j]), b.first[j][0], b.first[j][places-1]
		}
		t.Add(b.name, strconv.Itoa(b.launches), fmt.Sprintf("%d of %d", b.filled, b.curves), fmt.Sprintf("%.0f", lab.Middle(running)), fmt.Sprintf("%.1f", lab.Middle(first)),
			fmt.Sprintf("%.1f", lab.Middle(tenth)), fmt.Sprintf("%.1f", slices.Min(tenth)))
	}
	return t.Write(os.Stdout)
}

// prices are those of each goal, on each board, with each inputs.
func (m *measurement) prices() error {
	t := lab.NewTable("board", "inputs", ">enter Running", "elsewhere", ">be in the first ten", "elsewhere", ">hold it for an hour", "elsewhere", ">with a score of")
	var plans []string
	for i := range populations {
		for j := range slices.Backward(allInputs) { // what is cheap with dear inputs is cheaper with others
			row, p, err := m.pricesOf(&populations[i], &allInputs[j])
			if err != nil {
				return err
			}
			t.Rows = slices.Insert(t.Rows, i*len(allInputs), row)
			plans = slices.Insert(plans, i*len(allInputs), p)
		}
	}
	if err := t.Write(os.Stdout); err != nil {
		return err
	}
	return list("The plans that held the first ten for an hour:", plans)
}

// pricesOf is a row of that table, and the plan that held the first ten.
func (m *measurement) pricesOf(p *population, in *inputs) (row []string, held string, err error) {
	row = []string{p.name, in.name}
	score := ""
	for _, g := range []goal{holdAnHour, beAmongTen, enterRunning} { // who holds a place has entered: the others begin with that plan
		f, err := m.search(p, in, g, anyFamily)
		if err != nil {
			return nil, "", err
		}
		if held == "" {
			held, score = fmt.Sprintf("- %s, %s: `%s`", p.name, in.name, f.json()), fmt.Sprintf("%.1f", f.best)
		}
		row = slices.Insert(row, 2, f.cell(), f.elsewhere())
	}
	return append(row, score), held, nil
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
	list := make([]family, len(venues))
	for i := range venues {
		list[i] = family{venues[i].name, func(p *plan) { p.Venue = site(i) }}
	}
	return m.families("launched in", list, allInputs)
}

// kinds are the prices of an hour by the kind of attack, at a venue of which the creator gets no more than half of the fees.
func (m *measurement) kinds() error {
	list := make([]family, len(families))
	for i, f := range families {
		list[i] = family{f.name, func(p *plan) {
			f.make(p)
			p.Venue %= 2
		}}
	}
	return m.families("attack", list, allInputs[1:2])
}

// families is a table of an hour among the first ten of the usual board, with a row for each family.
func (m *measurement) families(of string, list []family, with []inputs) error {
	header := []string{of}
	for i := range with {
		header = append(header, ">"+with[i].name+" inputs", "elsewhere")
	}
	t := lab.NewTable(header...)
	for _, f := range list {
		row := []string{f.name}
		for i := range slices.Backward(with) {
			best, err := m.search(usualBoard, &with[i], holdAnHour, f)
			if err != nil {
				return err
			}
			row = slices.Insert(row, 1, best.cell(), best.elsewhere())
		}
		t.Add(row...)
	}
	return t.Write(os.Stdout)
}

// time is how the price grows with how long the place is held.
func (m *measurement) time() error {
	header := []string{"hours among the first ten"}
	for i := range allInputs {
		header = append(header, ">"+allInputs[i].name+" inputs", "elsewhere")
	}
	t := lab.NewTable(header...)
	for _, hours := range []int64{longestS / hour, 4, 1} { // who holds a place for longer has held it for an hour
		row := []string{strconv.FormatInt(hours, 10)}
		for i := range slices.Backward(allInputs) {
			best, err := m.search(usualBoard, &allInputs[i], goal{fmt.Sprintf("hold the first ten for %d h", hours), true, hours * hour}, anyFamily)
			if err != nil {
				return err
			}
			row = slices.Insert(row, 1, best.cell(), best.elsewhere())
		}
		t.Rows = slices.Insert(t.Rows, 0, row)
	}
	return t.Write(os.Stdout)
}

// harms are by which parts a score is lowered. Whoever lowers it by more has lowered it by less: each search begins with the plan of the one before.
var harms = []float64{0.5, 0.25, 0.05}

// victims is how many honest launches are attacked.
const victims = 3

// harm is what it costs to lower the score of an honest launch for an hour, with middle inputs: what counts is fees.
func (m *measurement) harm() error {
	b, err := m.board(usualBoard, m.seed, hour)
	if err != nil {
		return err
	}
	header, in := []string{"the score falls by"}, &allInputs[1]
	var all []*victim
	for _, n := range b.honest[:min(victims, len(b.honest))] {
		v, err := newVictim(b, n)
		if err != nil {
			return err
		}
		all = append(all, v)
		header = append(header, fmt.Sprintf(">of a launch with %.1f", v.alone[0]))
	}
	t := lab.NewTable(header...)
	from := make([][]plan, len(all))
	for _, fall := range harms {
		row := []string{fmt.Sprintf("%.0f %%", 100*fall)}
		for i, v := range all {
			f, err := m.searchBy(fmt.Sprintf("to lower a score of %.1f by %.0f %%", v.alone[0], 100*fall), anyFamily, from[i], func(p *plan, _ float64) (trial, error) {
				return v.try(p, in, fall, m.seed)
			})
			if err != nil {
				return err
			}
			from[i] = append(from[i], f.plan)
			row = append(row, f.cell())
		}
		t.Add(row...)
	}
	return t.Write(os.Stdout)
}
