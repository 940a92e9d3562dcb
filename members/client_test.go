package members_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
	"github.com/boardwalkhq/boardwalk/members/client"
)

func (in *intake) client() *client.Client {
	return &client.Client{Address: in.address, Token: token, HTTP: &http.Client{}}
}

// TestImport writes more than one batch, with lines that are refused among them, and the same again.
func TestImport(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			in := open(t, kind)
			var file strings.Builder
			for i := range 1500 {
				fmt.Fprintln(&file, memberLine(fmt.Sprintf("u%d", i), fmt.Sprintf("h%d", i)))
			}
			fmt.Fprintln(&file, memberLine("more", "@more"))
			for i := range 1500 {
				fmt.Fprintln(&file, walletLine(fmt.Sprintf("u%d", i), i+1))
			}
			file.WriteString(walletLine("nobody", 1)) // without a line's end
			var refused []client.Refused
			var read int64
			imported := func() client.Imported {
				t.Helper()
				refused = nil
				sum, err := in.client().Import(t.Context(), strings.NewReader(file.String()), func(n int64) { read = n }, func(r client.Refused) { refused = append(refused, r) })
				if err != nil {
					t.Fatal(err)
				}
				return sum
			}
			if sum := imported(); sum != (client.Imported{Lines: 3002, Written: 3000, Refused: 2}) || read != int64(file.Len()) {
				t.Errorf("it is %+v after %d bytes of %d", sum, read, file.Len())
			}
			if len(refused) != 2 || refused[0].Line != 1501 || !strings.Contains(refused[0].Why, "handle") || !strings.Contains(refused[0].Why, "without @") ||
				refused[1].Line != 3002 || !strings.Contains(refused[1].Why, "no such member") {
				t.Errorf("refused are %+v", refused)
			}
			if sum := imported(); sum != (client.Imported{Lines: 3002, Unchanged: 3000, Refused: 2}) {
				t.Errorf("the same again is %+v", sum)
			}
			var out bytes.Buffer
			if err := in.client().Export(t.Context(), &out); err != nil || strings.Count(out.String(), "\n") != 3000 {
				t.Errorf("the export has %d lines: %v", strings.Count(out.String(), "\n"), err)
			}
		})
	}
}

func TestImportSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	in := open(t, "sqlite")
	none := func(int64) {}
	ignored := func(client.Refused) {}
	other := in.client()
	other.Token = "another"
	if _, err := other.Import(t.Context(), strings.NewReader(memberLine("u1", "ada")), none, ignored); err == nil || !strings.Contains(err.Error(), "No valid token") || strings.Contains(err.Error(), "another") {
		t.Errorf("another token: %v", err)
	}
	elsewhere := in.client()
	elsewhere.Address, elsewhere.Tries = "http://127.0.0.1:1", 1
	if _, err := elsewhere.Import(t.Context(), strings.NewReader(memberLine("u1", "ada")), none, ignored); err == nil || !strings.Contains(err.Error(), "doesn't answer") {
		t.Errorf("another address: %v", err)
	}
	if _, err := in.client().Import(t.Context(), strings.NewReader("{}\n"+strings.Repeat("x", 1<<20)), none, ignored); err == nil || !strings.Contains(err.Error(), "line 2: has more than") {
		t.Errorf("a long line: %v", err)
	}
	if sum, err := in.client().Import(t.Context(), strings.NewReader(""), none, ignored); err != nil || sum.Lines != 0 {
		t.Errorf("an empty file: %+v, %v", sum, err)
	}
}

// TestImportGoesOnWithTheNextProcess has the process end in the middle of an import, and another take over at the same address.
func TestImportGoesOnWithTheNextProcess(t *testing.T) {
	t.Parallel()
	in := open(t, "postgres")
	var file strings.Builder
	for i := range 3000 {
		fmt.Fprintln(&file, memberLine(fmt.Sprintf("u%d", i), fmt.Sprintf("h%d", i)))
	}
	lines := 0
	sum, err := in.client().Import(t.Context(), strings.NewReader(file.String()), func(int64) {
		if lines++; lines == 1500 {
			in.stop()
			in.listen = strings.TrimPrefix(in.address, "http://")
			in.start()
		}
	}, func(client.Refused) {})
	if err != nil || sum.Written != 3000 {
		t.Errorf("%+v, %v", sum, err)
	}
}

// BenchmarkImport writes members with a wallet each, on PostgreSQL.
func BenchmarkImport(b *testing.B) {
	in := openBench(b)
	n := 0
	for b.Loop() {
		var file strings.Builder
		for range 500 {
			n++
			fmt.Fprintln(&file, memberLine(fmt.Sprintf("u%d", n), fmt.Sprintf("h%d", n)))
			fmt.Fprintln(&file, walletLine(fmt.Sprintf("u%d", n), n))
		}
		sum, err := in.Import(b.Context(), strings.NewReader(file.String()), func(int64) {}, func(client.Refused) {})
		if err != nil || sum.Written != 1000 {
			b.Fatalf("%+v, %v", sum, err)
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "members/s")
}

// BenchmarkHeartbeats says of ten thousand members that they are present, over HTTP, on PostgreSQL.
func BenchmarkHeartbeats(b *testing.B) {
	in := openBench(b)
	const n = 10_000
	var file strings.Builder
	ids := make([]string, n)
	for i := range n {
		ids[i] = fmt.Sprintf("u%d", i)
		fmt.Fprintln(&file, memberLine(ids[i], fmt.Sprintf("h%d", i)))
	}
	if sum, err := in.Import(b.Context(), strings.NewReader(file.String()), func(int64) {}, func(client.Refused) {}); err != nil || sum.Written != n {
		b.Fatalf("%+v, %v", sum, err)
	}
	for b.Loop() {
		if err := in.Do(b.Context(), http.MethodPost, "/v1/presence", map[string]any{"ids": ids}, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "heartbeats/s")
}
