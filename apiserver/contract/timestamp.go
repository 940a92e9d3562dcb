package contract

import (
	"encoding/json"
	"errors"
	"time"
)

// Timestamp is an instant as the API writes it: RFC 3339 in UTC, fractions of a second cut off, so that the same data
// always gives the same bytes.
type Timestamp struct{ time.Time }

// At returns t as a Timestamp.
func At(t time.Time) Timestamp { return Timestamp{t.UTC().Truncate(time.Second)} }

var (
	_ json.Marshaler   = Timestamp{}
	_ json.Unmarshaler = (*Timestamp)(nil)
)

// MarshalJSON fails on the zero time: what is unknown is null, a *Timestamp that is nil.
func (t Timestamp) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return nil, errors.New("contract: zero timestamp")
	}
	return At(t.Time).Time.MarshalJSON()
}

// UnmarshalJSON takes any RFC 3339 time.
func (t *Timestamp) UnmarshalJSON(text []byte) error {
	var parsed time.Time
	if err := json.Unmarshal(text, &parsed); err != nil {
		return err
	}
	*t = At(parsed)
	return nil
}
