package contract_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
)

// texts calls f with each text of a part of the document that readers show as Markdown, and where it stands.
func texts(part any, at string, f func(at, text string)) {
	switch part := part.(type) {
	case node:
		for key, value := range part {
			text, isText := value.(string)
			if isText && (key == "description" || key == "summary") {
				f(at+"/"+key, text)
				continue
			}
			texts(value, at+"/"+key, f)
		}
	case []any:
		for _, item := range part {
			texts(item, at, f)
		}
	}
}

// block is the beginning of a line that Markdown makes a list, a heading, a quotation or code of.
var block = regexp.MustCompile(`(?m)^(?: {0,3}(?:\d{1,9}[.)]|[-+*#>]|#{1,6}) |\t| {4})`)

// TestTextsArePlainParagraphs holds the texts to paragraphs: none of them has a list, so a line that begins like one is a
// sentence that was wrapped there, and is drawn as a list.
func TestTextsArePlainParagraphs(t *testing.T) {
	t.Parallel()
	seen := 0
	texts(document(t), "", func(at, text string) {
		seen++
		if i := block.FindStringIndex(text); i != nil {
			line, _, _ := strings.Cut(text[i[0]:], "\n")
			t.Errorf("%s: Markdown makes more than a paragraph of the line %q", at, line)
		}
	})
	if seen < 100 {
		t.Errorf("only %d texts were read", seen)
	}
}

// TestTextsSayWhichChainIsTaken reads what operations say of a contract address without a chain: that of its launch comes
// first, and with none the deepest liquidity, which two chains can take from each other.
func TestTextsSayWhichChainIsTaken(t *testing.T) {
	t.Parallel()
	doc := document(t)
	for _, name := range []string{"ChainQuery", "LaunchChainQuery"} {
		if p := child(doc, "components", "parameters", name); p != nil {
			requireChoice(t, name, p["description"])
		}
	}
	requireChoice(t, "getTokenPrices", child(doc, "paths", "/api/market/token-prices", "get")["description"])
	operations, err := contract.Operations()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range operations {
		i := slices.IndexFunc(o.Parameters, func(p *contract.Parameter) bool { return p.Name == "chain" })
		// Token info means Solana, and of launches alone those that have one are looked at.
		if i < 0 || !strings.Contains(o.Path, "{mint}") || o.ID == "getLaunchedToken" || o.ID == "getLaunchCard" {
			continue
		}
		list, _ := child(doc, "paths", o.Path, "get")["parameters"].([]any)
		for _, p := range list {
			if ref, _ := child(p)["$ref"].(string); strings.HasSuffix(ref, "ChainQuery") {
				requireChoice(t, o.ID, child(doc, "components", "parameters", ref[strings.LastIndex(ref, "/")+1:])["description"])
			}
		}
	}
}

func requireChoice(t *testing.T, where string, description any) {
	t.Helper()
	text, _ := description.(string)
	text = strings.Join(strings.Fields(text), " ")
	launch, deepest := strings.Index(text, "launch"), strings.Index(text, "deepest")
	if launch < 0 || deepest < launch {
		t.Errorf("%s doesn't say that the chain of the launch comes before that with the deepest liquidity: %s", where, text)
	}
	if !strings.Contains(text, "nearly equal") {
		t.Errorf("%s doesn't warn of two chains with nearly equal liquidity: %s", where, text)
	}
}
