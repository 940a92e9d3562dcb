# Every target that a developer needs. `make help` lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help

COMMIT := $(shell git rev-parse HEAD 2>/dev/null)
BUILT := $(shell git log -1 --format=%cI 2>/dev/null)
LDFLAGS := -X main.commit=$(COMMIT) -X main.built=$(BUILT)
LINT := go tool -modfile=$(CURDIR)/hack/tools/go.mod golangci-lint
# What the benchmarks compare with, a module of its own.
PEERS := hack/bench/peers
DATA ?= data
# Tests also wait for nodes, databases and browsers. On a machine of few cores, half as many packages again as there are cores are tested at once.
AT_ONCE := $(shell n=$$(getconf _NPROCESSORS_ONLN); [ $$n -gt 4 ] || echo "-p $$((n * 3 / 2))")

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  %-10s %s\n", $$1, $$2}'

.PHONY: build
build: ## Build bin/boardwalk
	go build -ldflags '$(LDFLAGS)' -o bin/boardwalk .

.PHONY: run
run: build ## Start two local EVM chains and a local Solana with traffic, and Boardwalk on them
	go build -o bin/simnet ./hack/simnet/cmd/simnet
	DATA='$(DATA)' hack/run.sh

.PHONY: setup
setup: ## Install what the tests need: Debian packages, and Kubernetes and Helm from source; npm packages come with the tests
	hack/setup.sh

.PHONY: test
test: setup verify lint ## Install what the tests need, then check and test everything
	hack/test.sh $(AT_ONCE) -count=1 -timeout 30m ./...
	go test -C $(PEERS) -count=1 ./...

.PHONY: e2e
e2e: ## Install the chart on a real Kubernetes node on this machine, as root, and watch chains and venues come and go
	hack/setup.sh node
	go test -tags e2e -count=1 -timeout 30m -v ./hack/e2e/...

.PHONY: e2e-long
e2e-long: ## What takes long there, and isn't in CI: from a former version to this one and back, a drain, faults of the operator, image, database and disk; clocks apart
	hack/setup.sh node
	go test -tags e2e,long -count=1 -timeout 60m -v -run TestMonthsOnARealNode ./hack/e2e/
	go test -tags long -count=1 -timeout 60m -v -run TestClocksTenMinutesApart .

.PHONY: e2e-keep
e2e-keep: ## Install the chart on such a node, say how to reach it with kubectl and helm, and keep it until Ctrl-C
	hack/setup.sh node
	go test -tags e2e,keep -count=1 -timeout 0 -v -run TestKeepANode ./hack/e2e/

.PHONY: e2e-kwok
e2e-kwok: setup ## The same as far as it goes on simulated nodes, for machines that can't run a real one: no image is pulled, no program runs
	go test -count=1 -timeout 20m -v -run 'TestADeploymentRollsOut|TestAChainGetsAnIndexer|TestADeletedChain|TestInstallUpgrade' ./internal/kubetest ./operator/controller ./charts

.PHONY: images
images: ## Build OCI images, the renderer's of Debian packages, for amd64 and arm64 into dist/, without a daemon
	go run ./hack/images -o dist -tag boardwalk:$(shell sed -n 's/^appVersion: *//p' charts/boardwalk/Chart.yaml)

.PHONY: publish
publish: ## Push the images and charts, with SBOMs and provenance, to REGISTRY=registry.example.com/boardwalk; KEY=cosign.key signs them
	go run ./hack/publish -registry '$(REGISTRY)' -key '$(KEY)' $(PUBLISH)

.PHONY: lint
lint: ## Run the linters, import rules included
	$(LINT) config verify
	$(LINT) run ./...
	cd $(PEERS) && $(LINT) run ./...

.PHONY: generate
generate: ## Make the generated files anew
	go generate ./...
	for chart in boardwalk boardwalk-crds; do rm -f charts/$$chart/files/crds/*.yaml && cp config/crd/bases/*.yaml charts/$$chart/files/crds/ || exit 1; done

.PHONY: verify
verify: generate ## Check that generated files are current, the modules are tidy, and everything would compile on macOS too
	go mod tidy -diff
	go -C $(PEERS) mod tidy -diff
	go run ./hack/typecheck darwin/arm64 . $(PEERS)
	@changed=$$(git status --porcelain -- '*.gen.go' '*zz_generated*' config/crd/bases charts/boardwalk/files/crds charts/boardwalk-crds/files/crds docs/reference.md); \
	if [ -n "$$changed" ] && [ -n "$$CI" ]; then echo "generated files are not current: run make generate"; echo "$$changed"; exit 1; fi

.PHONY: simulate
simulate: ## Run the whole system against fresh seeds of faults for FOR=10m, on an EVM chain or, with FAMILY=solana, on Solana
	go run ./hack/simulate --for $(or $(FOR),10m) --family "$(FAMILY)"

.PHONY: fuzz
fuzz: ## Fuzz the decoders, the reading of answers, headers and logs, the cleaning of names, the lines of the intake and the reading of texts for a minute each
	go test -run '^$$' -fuzz FuzzAnswers -fuzztime 60s ./indexer/rpc
	go test -run '^$$' -fuzz FuzzHeader -fuzztime 60s ./indexer/evm/block
	go test -run '^$$' -fuzz FuzzParseLogs -fuzztime 60s ./indexer/evm/decode
	go test -run '^$$' -fuzz 'FuzzDecode$$' -fuzztime 60s ./indexer/evm/decode
	go test -run '^$$' -fuzz FuzzDecodeLaunch -fuzztime 60s ./indexer/evm/decode
	@# Blocks and lists of holders are long: unless it is told otherwise, Go spends the whole minute on shortening the first one that reaches something new.
	go test -run '^$$' -fuzz FuzzParseBlock -fuzztime 60s -fuzzminimizetime 20x ./indexer/solana/decode
	go test -run '^$$' -fuzz FuzzWire -fuzztime 60s -fuzzminimizetime 20x ./indexer/solana/decode
	go test -run '^$$' -fuzz FuzzHoldings -fuzztime 60s -fuzzminimizetime 20x ./indexer/solana
	go test -run '^$$' -fuzz FuzzAccount -fuzztime 60s ./indexer/solana/layout
	go test -run '^$$' -fuzz FuzzSale -fuzztime 60s -fuzzminimizetime 20x ./indexer/solana/replay
	go test -run '^$$' -fuzz FuzzText -fuzztime 60s ./internal/plain
	go test -run '^$$' -fuzz FuzzLine -fuzztime 60s ./members/intake
	go test -run '^$$' -fuzz FuzzFind -fuzztime 60s ./internal/rich

.PHONY: mutate
mutate: ## Change operators of the pure rules one by one, and fail where their tests don't notice; MUTATE=internal/price for one package
	nice -n 10 go run ./hack/mutate $(MUTATE)

.PHONY: bench
bench: build ## Measure the backfill; the other benchmarks are in docs/benchmarks.md
	go run -C $(PEERS) . backfill

.PHONY: simulate-planted
simulate-planted: ## Bring mended defects back, one by one, in a copy, and simulate until each is found; it takes half an hour
	go run ./hack/simulate planted --parallel 2
