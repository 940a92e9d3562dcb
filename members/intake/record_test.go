package intake

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// FuzzLine reads lines of whatever bytes: each is a record, or a problem that says what is wrong with it.
func FuzzLine(f *testing.F) {
	for _, line := range []string{
		`{"kind":"member","id":"u1","handle":"ada","joined_at":"2026-01-01T00:00:00Z","updated_at":"2026-03-04T05:06:07Z"}`,
		`{"kind":"wallet","member":"u1","family":"solana","address":"11111111111111111111111111111112","attested":true,"updated_at":"2026-03-04T05:06:07Z"}`,
		`{"kind":"wallet","member":"u1","family":"evm","address":"0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed","proof":{"text":"t","signature":"s"}}`,
		`{"kind":"member","id":1e400}`, `{"kind":"member","joined_at":"9999999-01-01"}`, "{\"kind\":\"member\",\"handle\":\"\xff\"}", `[]`, `null`, ``,
		`{"kind":"member","updated_at":"0000-01-01T00:00:00Z"}`, `{"kind":"member","updated_at":"9999-12-31T23:59:60Z"}`,
		`{"kind":"wallet","chain":"` + strings.Repeat("x", 1000) + `"}`,
		`{"kind":"call","id":"c1","member":"u1","chain":"base","mint":"0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed","updated_at":"2026-03-04T05:06:07Z"}`,
		`{"kind":"call","id":"c1","deleted":true,"updated_at":"2026-03-04T05:06:07Z"}`,
		`{"kind":"comment","id":"p1","member":"u1","chain":"base","mint":"0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed","text":"gm","updated_at":"2026-03-04T05:06:07Z"}`,
		`{"kind":"post","id":"p1","member":"u1","text":"gm","trade":{"chain":"base","tx":"0x","mint":""},"updated_at":"2026-03-04T05:06:07Z"}`,
	} {
		f.Add([]byte(line))
	}
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	rd := &Reader{Deployment: "https://app.example.com", Now: func() time.Time { return now }}
	f.Fuzz(func(t *testing.T, line []byte) {
		rec, err := rd.Line(line)
		if err == nil {
			isText := rec.Call != nil || rec.Post != nil // whose deletion names no member
			if (rec.ID == "") != (isText && rec.Deleted) || rec.UpdatedAt <= 0 || rec.UpdatedAt > now.Add(time.Minute).UnixMicro() || rec.Wallet == nil && !isText && !rec.Deleted && (rec.Handle == "" || rec.JoinedAt <= 0) {
				t.Errorf("%q is %+v", line, rec)
			}
			return
		}
		var p *ProblemError
		if !errors.As(err, &p) || p.Status != 400 || len(p.Errors) == 0 {
			t.Fatalf("%q: %v", line, err)
		}
		for _, e := range p.Errors {
			if e.Reason == "" || !utf8.ValidString(p.Error()) && utf8.Valid(line) {
				t.Errorf("%q: %+v", line, e)
			}
		}
	})
}
