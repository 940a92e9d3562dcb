// Package traffic has seeded traders who use a world's exchanges, through routers, aggregators and bundles, and leave behind the
// truth about what they did. Bench makes a large chain of their trades for measurements.
package traffic
