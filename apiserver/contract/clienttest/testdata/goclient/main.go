// The program reader asks a server with a client that oapi-codegen made of its document, and prints what the client read as
// JSON, by operation. Its arguments are the server's address, a token's address and the chain of the token.
package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"
)

func main() {
	ctx := context.Background()
	server, mint, chain := os.Args[1], os.Args[2], os.Args[3]
	client, err := NewClientWithResponses(server)
	must(err)

	live, err := client.GetMarketLiveWithResponse(ctx, &GetMarketLiveParams{})
	must(err, live)
	prices, err := client.GetTokenPricesWithResponse(ctx, &GetTokenPricesParams{Mints: []MintParameter{chain + ":" + mint}})
	must(err, prices)
	info, err := client.GetTokenInfoWithResponse(ctx, mint, &GetTokenInfoParams{Chain: &chain})
	must(err, info)
	chart, err := client.GetTokenCandlesWithResponse(ctx, mint, &GetTokenCandlesParams{Chain: &chain})
	must(err, chart)
	sort := LaunchSort("new")
	board, err := client.GetLaunchBoardWithResponse(ctx, &GetLaunchBoardParams{Sort: &sort})
	must(err, board)
	launch, err := client.GetLaunchedTokenWithResponse(ctx, mint, &GetLaunchedTokenParams{Chain: &chain})
	must(err, launch)
	report, err := client.GetTokenTrustWithResponse(ctx, mint, &GetTokenTrustParams{Chain: &chain})
	must(err, report)
	health, err := client.GetMobileHealthWithResponse(ctx)
	must(err, health)

	must(json.NewEncoder(os.Stdout).Encode(map[string][2]any{
		"getMarketLive":    {json.RawMessage(live.Body), live.JSON200},
		"getTokenPrices":   {json.RawMessage(prices.Body), prices.JSON200},
		"getTokenInfo":     {json.RawMessage(info.Body), info.JSON200},
		"getTokenCandles":  {json.RawMessage(chart.Body), chart.JSON200},
		"getLaunchBoard":   {json.RawMessage(board.Body), board.JSON200},
		"getLaunchedToken": {json.RawMessage(launch.Body), launch.JSON200},
		"getTokenTrust":    {json.RawMessage(report.Body), report.JSON200},
		"getMobileHealth":  {json.RawMessage(health.Body), health.JSON200},
	}))
}

// must ends the program when something went wrong or an answer is no 200.
func must(err error, answers ...interface{ StatusCode() int }) {
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range answers {
		if status := a.StatusCode(); status != http.StatusOK {
			log.Fatalf("%T: status %d", a, status)
		}
	}
}
