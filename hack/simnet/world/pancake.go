package world

import (
	"context"
	"math/big"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
)

func (d *Deployment) pancakeSwapV3(ctx context.Context) {
	// A contract whose code is the pools' creation code: PUSH2 size, DUP1, PUSH1 10, PUSH0, CODECOPY,
	// PUSH0, RETURN.
	code := d.Node.Tools.Code["PancakeV3Pool"]
	size := big.NewInt(int64(len(code))).FillBytes(make([]byte, 2))
	stored := anvil.CreateAddress(d.Deployer, d.Nonce)
	d.Add(anvil.Transaction{Data: append([]byte{0x61, size[0], size[1], 0x80, 0x60, 0x0a, 0x5f, 0x39, 0x5f, 0xf3}, code...)})

	deployer := d.Create("PancakeDeployer", "(address)", stored)
	d.PancakeSwapV3Factory = d.createAt(ctx, d.places.PancakeSwapV3Factory, "PancakeV3Factory", "(address)", deployer)
	d.Routers.PancakeSwapV3 = d.Create("PancakeRouter", "(address)", d.PancakeSwapV3Factory)
}
