package apiserver_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/browsertest"
)

// TestReferenceTriesWhatIsThere opens operations in the reference of a running server, and tries each as it is filled in: the
// token is one of this deployment.
func TestReferenceTriesWhatIsThere(t *testing.T) {
	t.Parallel()
	o := ownDocs(t)
	api := "http://" + listening(t, o)
	browser := browsertest.Start(t)
	for _, operation := range []string{
		"Market/getTokenPrices", "Market/getTokenInfo", "Market/getChart", "Market/getTokenCandles", "Market/getTokenTrust",
		"Launchpad/getLaunchedToken", "Cards/getTokenCard",
	} {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			page, _ := browser.Page(t, browsertest.Desktop)
			if status, err := browsertest.Open(page, api+"/docs/#/"+operation); err != nil || status != http.StatusOK {
				t.Fatal(status, err)
			}
			click(page, t, ".opblock.is-open .try-out__btn")
			click(page, t, ".opblock.is-open .execute")
			const status = `document.querySelector('.opblock.is-open .live-responses-table tbody .response-col_status')`
			if err := browsertest.Until(page, status); err != nil {
				t.Fatal(err)
			}
			said, err := browsertest.Eval[string](page, `document.querySelector('.opblock.is-open .live-responses-table').innerText`)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := browsertest.Eval[string](page, status+`.textContent`); err != nil || !strings.HasPrefix(strings.TrimSpace(got), "200") ||
				strings.Contains(said, `"missing": [
    "`) {
				t.Errorf("as it is filled in it answers %s %v: %.300s", got, err, said)
			}
		})
	}
}

func click(page context.Context, t *testing.T, selector string) {
	t.Helper()
	if err := browsertest.Until(page, fmt.Sprintf(`document.querySelector(%q)`, selector)); err != nil {
		t.Fatal(err)
	}
	if _, err := browsertest.Eval[bool](page, fmt.Sprintf(`document.querySelector(%q).click() || true`, selector)); err != nil {
		t.Fatal(err)
	}
}
