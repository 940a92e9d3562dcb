package main

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/sharecard"
)

func TestParseProcess(t *testing.T) {
	t.Parallel()
	const line = "4711 (a (very) odd name) S 42 4711 4711 0 -1 4194560 100 0 0 0 150 50 25 5 20 0 9 0 1234 0 0\n"
	got, err := parseProcess([]byte(line))
	if want := (processOf{pid: 4711, parent: 42, cpu: 2300 * time.Millisecond}); err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	for _, bad := range []string{"", "4711", "4711 (cut off) S 42 1 1", strings.Replace(line, "150", "many", 1)} {
		if got, err := parseProcess([]byte(bad)); err == nil {
			t.Errorf("%q is read as %+v", bad, got)
		}
	}
}

func TestTreeOf(t *testing.T) {
	t.Parallel()
	all := []processOf{{pid: 9, parent: 8}, {pid: 1}, {pid: 8, parent: 7}, {pid: 7, parent: 1}, {pid: 5, parent: 1}, {pid: 6, parent: 7}}
	var pids []int
	for _, p := range treeOf(7, all) {
		pids = append(pids, p.pid)
	}
	if len(pids) != 4 || pids[0] != 7 {
		t.Errorf("the tree of 7 is %v, want 7, 8, 6 and 9", pids)
	}
	if got := treeOf(99, all); len(got) != 0 {
		t.Errorf("the tree of nobody is %v", got)
	}
}

// TestTreeCPU has a child's child use CPU, which counts before and after that has ended.
func TestTreeCPU(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("no /proc")
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'; echo; cat`)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	used, err := treeCPU(cmd.Process.Pid)
	if err != nil || used < 10*time.Millisecond {
		t.Errorf("it used %s: %v", used, err)
	}
	held, processes, err := treeMemory(cmd.Process.Pid)
	if err != nil || processes != 2 || held < 100_000 { // the shell and cat
		t.Errorf("%d processes hold %d bytes: %v", processes, held, err)
	}
	if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
		t.Error(err)
	}
}

// TestGivenOf takes the real document apart.
func TestGivenOf(t *testing.T) {
	t.Parallel()
	c, err := measuredCard()
	if err != nil {
		t.Fatal(err)
	}
	g, err := givenOf(c, 2, "chromium")
	if err != nil {
		t.Fatal(err)
	}
	for _, url := range g.Pictures {
		if !strings.HasPrefix(url, "data:image/png;base64,") || strings.Contains(url, "&#") {
			t.Errorf("no data URL: %.40q", url)
		}
	}
	if len(g.Pictures) != 5 || g.Workers != 2 || !strings.Contains(g.HTML, "dogwifhat") {
		t.Errorf("%d pictures, %d workers", len(g.Pictures), g.Workers)
	}
	for name, path := range map[string]string{"planks": g.Chart.Planks, "gaps": g.Chart.Gaps, "level": g.Chart.Level, "line": g.Chart.Line} {
		if !strings.HasPrefix(path, "M") {
			t.Errorf("the path of %s is %.40q", name, path)
		}
	}
	if g.Chart.DotX == "" || g.Chart.DotY == "" {
		t.Errorf("the dot is at %q, %q", g.Chart.DotX, g.Chart.DotY)
	}
	c.Day = nil
	if g, err := givenOf(c, 2, "chromium"); err == nil {
		t.Errorf("a card without a chart has %+v", g.Chart)
	}
}

func TestUnlike(t *testing.T) {
	t.Parallel()
	encoded := func(m image.Image) []byte {
		var b bytes.Buffer
		if err := png.Encode(&b, m); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	blue, lighter := color.RGBA{0x20, 0x40, 0x80, 0xff}, color.RGBA{0x20, 0x50, 0x90, 0xff}
	small, large := encoded(disc(100, 50, blue, color.White)), encoded(disc(100, 50, lighter, color.White))
	if share, err := unlike(small, large); err != nil || share != 0 {
		t.Errorf("a shade counts: %v, %v", share, err)
	}
	// The disc's radius is 15.
	if share, err := unlike(small, encoded(disc(100, 50, blue, blue))); err != nil || share < 0.13 || share > 0.15 {
		t.Errorf("without its disc %v of it differs: %v", share, err)
	}
	for what, other := range map[string][]byte{"another size": encoded(disc(99, 50, blue, blue)), "no picture": []byte("PNG")} {
		if share, err := unlike(small, other); err == nil {
			t.Errorf("%s: %v of it differs", what, share)
		}
	}
}

func TestGrowth(t *testing.T) {
	t.Parallel()
	list := []memoryAt{{bytes: 1}} // before any card
	for i := 1; i <= 10; i++ {
		list = append(list, memoryAt{cards: i * memoryEvery, bytes: int64(100 + 10*i)})
	}
	ratio, first, last := growth(list)
	if first != 115 || last != 195 || ratio != 195.0/115 {
		t.Errorf("from %v to %v, %v times as much", first, last, ratio)
	}
	if ratio, _, _ := growth([]memoryAt{{bytes: 1}, {bytes: 50}}); ratio != 1 {
		t.Errorf("one reading grew %v times", ratio)
	}
}

func TestCardRatios(t *testing.T) {
	t.Parallel()
	m := cardsMeasurement{runs: map[string][]cardsRun{}}
	for name, ms := range map[string][]int{cardsRenderer: {40, 50, 60}, cardsTakumi: {20, 20, 20}, cardsSatori: {40, 50, 60}} {
		for _, n := range ms {
			m.runs[name] = append(m.runs[name], cardsRun{cpu: time.Duration(n) * time.Millisecond})
		}
	}
	var out bytes.Buffer
	if err := m.ratios().write(&out); err != nil {
		t.Fatal(err)
	}
	// As much as satori isn't below it; nobody measured playwright or the browser alone.
	rows := strings.Split(strings.TrimSpace(out.String()), "\n")[2:]
	if len(rows) != 2 || !strings.Contains(rows[0], "1.00") || !strings.Contains(rows[0], "missed") ||
		!strings.Contains(rows[1], "2.50") || !strings.Contains(rows[1], "missed") {
		t.Errorf("the ratios are\n%s", out.String())
	}
}

func TestDrawAsTold(t *testing.T) {
	t.Parallel()
	var drawn atomic.Int64
	same := func(context.Context) ([]byte, error) {
		drawn.Add(1)
		return []byte("picture"), nil
	}
	file := t.TempDir() + "/picture"
	var out bytes.Buffer
	if err := drawAsTold(t.Context(), strings.NewReader("draw 20\nsave "+file+"\n"), &out, 3, same); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "\"ready\"\n\"done\"\n\"done\"\n" || drawn.Load() != 21 {
		t.Errorf("it drew %d and said %q", drawn.Load(), got)
	}
	if raw, err := os.ReadFile(file); err != nil || string(raw) != "picture" {
		t.Errorf("it saved %q: %v", raw, err)
	}
	another := func(context.Context) ([]byte, error) { return []byte{byte(drawn.Add(1))}, nil }
	out.Reset()
	if err := drawAsTold(t.Context(), strings.NewReader("draw 2\n"), &out, 1, another); err == nil || out.String() != "\"ready\"\n" {
		t.Errorf("other bytes are no error: %v, and it said %q", err, out.String())
	}
	if err := drawAsTold(t.Context(), strings.NewReader("paint\n"), &out, 1, same); err == nil {
		t.Error("an unknown word is no error")
	}
}

func TestCardsFlags(t *testing.T) {
	t.Parallel()
	for line, says := range map[string]string{
		"":                       "",
		"--only takumi":          "",
		"--rounds 0":             "",
		"--only photoshop":       `"photoshop" is no contender`,
		"--cards 0":              "must be positive",
		"--workers -1":           "must be positive",
		"--warmup -1":            "not negative",
		"--memory 150":           "multiple of 100",
		"--memory -100":          "multiple of 100",
		"renderer":               "no argument",
		"--rounds 3 --cards ten": "see bench cards --help",
	} {
		var o cardsOptions
		err := o.parse(strings.Fields(line))
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, %q is expected", line, err, says)
		}
	}
}

// TestMeasuredCard holds the card against the limits of what the renderer takes.
func TestMeasuredCard(t *testing.T) {
	t.Parallel()
	c, err := measuredCard()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	if first, last := c.Day[0], c.Day[len(c.Day)-1]; len(c.Day) != sharecard.MaxPoints || first >= last {
		t.Errorf("%d points from %v to %v", len(c.Day), first, last)
	}
}
