package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/boardwalkhq/boardwalk/indexer/metadata"
)

// outside are the flags of whatever fetches tokens' metadata, which is anywhere.
type outside struct {
	fetch         bool
	ipfs, arweave []string
	denied        []string
}

func (o *outside) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.fetch, "fetch-metadata", true, "fetch tokens' descriptions and pictures, from public addresses alone")
	f.StringArrayVar(&o.ipfs, "ipfs-gateway", nil, "https:// base of a public IPFS gateway, in place of well-known ones; may be given several times")
	f.StringArrayVar(&o.arweave, "arweave-gateway", nil, "the same for Arweave")
	f.StringArrayVar(&o.denied, "deny-address", nil, "address or CIDR that metadata is never fetched from though it is public, as one that is used inside; may be given several times")
}

// fetcher is nil when nothing is to be fetched.
func (o *outside) fetcher() (*metadata.Fetcher, error) {
	if !o.fetch {
		return nil, nil //nolint:nilnil // none is what was asked for
	}
	denied, err := metadata.ParseRanges(o.denied)
	if err != nil {
		return nil, fmt.Errorf("--deny-address: %w", err)
	}
	f, err := metadata.New(metadata.Options{Now: now, IPFS: o.ipfs, Arweave: o.arweave, Denied: denied})
	if err != nil {
		return nil, fmt.Errorf("--ipfs-gateway, --arweave-gateway: %w", err)
	}
	return f, nil
}
