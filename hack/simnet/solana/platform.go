package solana

import (
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/programs"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
)

// The platform of the local world takes a fee of what people pay through its app: a payment beside the purchase, in the same transaction, of SOL, or of wrapped SOL by
// those who keep some.

// FeeBps is the fee in hundredths of a percent.
const FeeBps = 80

// FeeRecipientBegins is how many lamports the recipient has before it gets any.
const FeeRecipientBegins = setAccountLamports

// FeeRecipient gets it.
var FeeRecipient = svm.SignerOf("platform").Key

// platformFee adds the fee of a purchase, one in three of them, which went through the platform's app.
func (w *World) platformFee(t *tx, who svm.Signer, paid uint64) {
	fee := paid * FeeBps / 10_000
	if !w.hasPlatform || fee == 0 || w.rng.IntN(3) > 0 {
		return
	}
	if !w.keepsWSOL(who) {
		t.add(programs.Pay(who.Key, FeeRecipient, fee))
		return
	}
	t.add(wsol.OpenAccount(who.Key, FeeRecipient), wsol.Transfer(wsol.Account(who.Key), wsol.Account(FeeRecipient), who.Key, fee))
}
