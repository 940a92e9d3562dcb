package sharecard

import "fmt"

// New makes an empty card of a kind, to be decoded into.
func New(kind Kind) (Card, error) {
	switch kind {
	case KindToken:
		return new(Token), nil
	case KindLaunch:
		return new(Launch), nil
	case KindTrader:
		return new(Trader), nil
	default:
		return nil, fmt.Errorf("sharecard: no kind %q: use %s, %s or %s", kind, KindToken, KindLaunch, KindTrader)
	}
}
