package httpapi

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
)

// answer is an encoded body with its ETag. It is never changed once made, so that many requests can share it.
type answer struct {
	body []byte
	etag string
	// closed says that the body can't change any more.
	closed bool
}

// encode makes the answer of a value. Text is escaped so that it is inert even inside an HTML page.
func encode(v any) (*answer, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("httpapi: encode a %T: %w", v, err)
	}
	return newAnswer(append(body, '\n')), nil
}

func newAnswer(body []byte) *answer {
	sum := sha256.Sum256(body)
	return &answer{body: body, etag: `W/"` + hex.EncodeToString(sum[:16]) + `"`}
}

// write sends the answer, or 304 when the client has it already, and gives the status.
func (a *answer) write(w http.ResponseWriter, r *http.Request, c contract.Cache) int {
	h := w.Header()
	h.Set("ETag", a.etag)
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", c.Header())
	if a.closed {
		h.Set("Cache-Control", c.ClosedHeader())
	}
	if known(r.Header.Get("If-None-Match"), a.etag) {
		w.WriteHeader(http.StatusNotModified)
		return http.StatusNotModified
	}
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(a.body)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(a.body) // the client may be gone
	}
	return http.StatusOK
}

// known reports whether an If-None-Match names the tag; the comparison is weak (RFC 9110, section 13.1.2).
func known(ifNoneMatch, etag string) bool {
	if ifNoneMatch == "*" {
		return true
	}
	bare := strings.TrimPrefix(etag, "W/")
	for part := range strings.SplitSeq(ifNoneMatch, ",") {
		if strings.TrimPrefix(strings.TrimSpace(part), "W/") == bare {
			return true
		}
	}
	return false
}

// digits is how many significant digits a number has at most.
const digits = 15

// number rounds to 15 significant digits. What is no finite number is unknown: nil.
func number(v *float64) *float64 {
	if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
		return nil
	}
	n := rounded(*v)
	return &n
}

// rounded is v with 15 significant digits; 0 for what is no finite number.
func rounded(v float64) float64 {
	n, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return 0
	}
	return n
}

func timestamp(unix int64) contract.Timestamp { return contract.At(time.Unix(unix, 0)) }
