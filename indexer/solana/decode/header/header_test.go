package header

import "testing"

func TestPlacesThatMayChange(t *testing.T) {
	t.Parallel()
	for form, read := range map[string]func() (Header, bool){
		"JSON": func() (Header, bool) {
			return OfJSON([]byte(`{"numRequiredSignatures":1,"numReadonlySignedAccounts":0,"numReadonlyUnsignedAccounts":1,"other":[1]}`), 3)
		},
		"wire": func() (Header, bool) { return OfWire([]byte{0x08, 1, 0x18, 1}, 3) },
	} {
		h, ok := read()
		if !ok {
			t.Fatalf("%s isn't read", form)
		}
		// The last four keys are from lookup tables, of which two may change.
		for place, want := range []bool{true, true, false, true, true, false, false} {
			if got := h.Writes(place, 2); got != want {
				t.Errorf("%s: place %d: %v, want %v", form, place, got, want)
			}
		}
	}
}

func TestHeadersThatCannotBe(t *testing.T) {
	t.Parallel()
	for text, static := range map[string]int{
		``:                            3,
		`null`:                        3,
		`{}`:                          3, // nobody has signed
		`{"numRequiredSignatures":4}`: 3,
		`{"numRequiredSignatures":1,"numReadonlySignedAccounts":1}`:                        3,
		`{"numRequiredSignatures":1,"numReadonlyUnsignedAccounts":3}`:                      3,
		`{"numRequiredSignatures":1,"numReadonlyUnsignedAccounts":18446744073709551615}`:   3,
		`{"numRequiredSignatures":-1}`:                                                     3,
		`{"numRequiredSignatures":1`:                                                       3,
		`{"numRequiredSignatures":1,"numReadonlyUnsignedAccounts":"2"}`:                    3,
		`{"numRequiredSignatures":18446744073709551615,"numReadonlyUnsignedAccounts":"2"}`: 0,
	} {
		if h, ok := OfJSON([]byte(text), static); ok {
			t.Errorf("%q with %d keys is read as %+v", text, static, h)
		}
	}
	for _, message := range [][]byte{nil, {0x08, 4}, {0x08, 1, 0x10, 1}, {0x08, 1, 0x18, 3}, {0x08}} {
		if h, ok := OfWire(message, 3); ok {
			t.Errorf("%x is read as %+v", message, h)
		}
	}
}
