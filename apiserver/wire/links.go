package wire

import (
	"net/url"
	"strconv"
	"strings"
)

// Links makes addresses of the service and of its documentation. Both are without a slash at their ends.
type Links struct{ Base, Docs string }

// Absolute is an address as apps need it, which have no page that it could be relative to.
func (l Links) Absolute(address string) string {
	if strings.HasPrefix(address, "/") {
		return l.Base + address
	}
	return address
}

// Token is the page that opens a token in the app.
func (l Links) Token(mint, chain string) string {
	return l.Base + "/t/" + mint + "?chain=" + url.QueryEscape(chain)
}

// TokenCard is a token's card. v is nobody's parameter: it changes with the hour of the data (asOf, unix seconds), because unfurlers keep a
// picture by its address, some for weeks.
func (l Links) TokenCard(mint, chain string, asOf int64) string {
	const hour = 60 * 60
	return l.Base + "/api/pnl-card/token/" + mint + ".png?chain=" + url.QueryEscape(chain) + "&v=" + strconv.FormatInt(asOf/hour, 36)
}
