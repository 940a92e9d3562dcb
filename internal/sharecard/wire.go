package sharecard

// What the API server and the renderer say over their socket is HTTP/1.1 with these words.
const (
	// CardsPath and a card's Kind are the path of a POST that has a card as JSON and answers with its PNG. 400 and 413 say what is wrong with
	// the card; 503 has Retry-After in seconds; 504 is a card that took too long.
	CardsPath = "/v1/cards/"
	// HealthPath answers a GET with 200 while cards can be drawn, else with 503.
	HealthPath = "/v1/health"
	// VersionHeader is in the answer with a PNG, and says the Version in which the card was drawn. A card of another version must not be kept
	// under this one.
	VersionHeader = "Boardwalk-Card-Version"
)
