package members_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// TestLaunchesThatPass: the program asks the API server whose address it is given, tells the stream of what passes the quality bar, and says in its metrics when it read that.
// The API server is a stand-in: the whole product's test has a real one.
func TestLaunchesThatPass(t *testing.T) {
	t.Parallel()
	in := open(t, "postgres")
	in.stop()
	const mint = "0x4ed4e862860bed51a9570b96d89af5e1b0efefed"
	board := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"launches":[{"chain":"base","mint":%q,"created_at":%q}],"next_before":null}`, mint, in.clock.Now().Add(-time.Hour).Format(time.RFC3339))
	}))
	t.Cleanup(board.Close)
	in.api = board.URL
	in.start()
	st := storetest.OpenAt(t, in.dsn)
	var items int
	if !wait.Until(t.Context(), 100*time.Millisecond, func() bool {
		list, err := st.Stream.Before(t.Context(), 1<<53, market.StreamRunning, market.Address{}, 10)
		if err != nil {
			t.Fatal(err)
		}
		items = len(list)
		return items == 1 && list[0].Token.String() == mint && list[0].Time == in.clock.Now().Unix() && in.gauge("boardwalk_running_read_timestamp_seconds") == float64(in.clock.Now().Unix())
	}) {
		t.Errorf("the stream has %d launches", items)
	}
}

// gauge is a metric without labels.
func (in *intake) gauge(name string) float64 {
	in.t.Helper()
	families, err := in.metrics.Gather()
	if err != nil {
		in.t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	in.t.Fatalf("there is no metric %s", name)
	return 0
}
