package apiserver_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
)

// TestChartsThatReachIntoTheFuture asks for charts that end after the newest block, as chart libraries do: such a chart ends
// with the bucket of now, and its limit counts from there.
func TestChartsThatReachIntoTheFuture(t *testing.T) {
	t.Parallel()
	c := start(t, seeded(t, "sqlite"))
	now := chainTime
	const base = "/api/chart/" + token + "?chain=base&tf=1m"
	for name, query := range map[string]string{
		"from an hour ago":                   fmt.Sprintf("&from=%d", now-3600),
		"from an hour ago, with a limit":     fmt.Sprintf("&from=%d&limit=20", now-3600),
		"with a limit alone":                 "&limit=20",
		"from an hour ago, without filling":  fmt.Sprintf("&from=%d&fill=false", now-3600),
		"the newest bucket, from its middle": fmt.Sprintf("&from=%d", now),
	} {
		want := get[contract.CandleSeries](t, c, fmt.Sprintf("%s%s&to=%d", base, query, now))
		if len(want.Candles) == 0 {
			t.Fatalf("%s: up to now there is no candle", name)
		}
		for _, ahead := range []int64{60, 3600, 6 * 3600, 10 * 365 * 86_400} {
			got := get[contract.CandleSeries](t, c, fmt.Sprintf("%s%s&to=%d", base, query, now+ahead))
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: up to %d s from now there are %d candles from %d to %d; want %d from %d to %d, as up to now",
					name, ahead, len(got.Candles), got.From, got.To, len(want.Candles), want.From, want.To)
			}
			udf := get[contract.UDFHistory](t, c, fmt.Sprintf("%s%s&to=%d&format=udf", base, query, now+ahead))
			if udf.S != contract.UDFHistorySOk || len(udf.T) != len(want.Candles) {
				t.Errorf("%s: in columns, up to %d s from now it is %s with %d buckets; want %d", name, ahead, udf.S, len(udf.T), len(want.Candles))
			}
		}
	}
	// A range that lies in the future has no candle, and the answer says where the newest one is.
	later := fmt.Sprintf("%s&from=%d&to=%d", base, now+3600, now+7200)
	if none := get[contract.CandleSeries](t, c, later); len(none.Candles) != 0 || none.From > none.To {
		t.Errorf("in an hour there is %+v", none)
	}
	newest := now - now%60
	if none := get[contract.UDFHistory](t, c, later+"&format=udf"); none.S != contract.UDFHistorySNoData || none.NextTime == nil || *none.NextTime != newest {
		t.Errorf("in columns, in an hour there is %+v; want no data, and the newest candle at %d", none, newest)
	}
}
