package sharecard

// The API server and the renderer talk HTTP/1.1 over a Unix socket. These are the paths of the requests, and a header of the answers.
const (
	// CardsPath is followed by a card's Kind. A POST sends the card as JSON and is answered with the card's PNG. 400 and 413 say what is wrong
	// with the card; 503 has Retry-After in seconds; 504 says that drawing took too long.
	CardsPath = "/v1/cards/"
	// HealthPath takes a GET, which is answered with 200 while cards can be drawn, else with 503.
	HealthPath = "/v1/health"
	// VersionHeader is in the answer with a PNG, and says the Version in which the card was drawn. A card of another version must not be kept
	// under this one.
	VersionHeader = "Boardwalk-Card-Version"
)
