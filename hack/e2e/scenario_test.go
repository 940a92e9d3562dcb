//go:build e2e && linux

package e2e

import "testing"

// namespace is where all of it happens. Its pods must be restricted ones.
const namespace = "boardwalk"

// servesAnswers is the step after which the installation is whole.
const servesAnswers = "the API answers from what was indexed"

// scenario is what a platform team does with Boardwalk, from the installation to its end.
var scenario = []struct {
	name string
	do   func(step)
}{
	{"the namespace refuses what isn't restricted", step.testNamespace},
	{"a chain runs in the cluster", step.testAnvil},
	{"the image runs and names are found", step.testSmoke},
	{"the chain has a past", step.testPast},

	{"the chart installs", step.testInstall},
	{"a Chain gets an indexer", step.testChain},
	{"the indexer follows the chain", step.testFollowing},
	{servesAnswers, step.testAPI},
	{"a trade shows in the API", step.testTrade},
	{"the API has the indexer check a token", step.testTrust},
	{"cards are drawn beside the API", step.testCards},
	{"the API outlives its renderer", step.testRendererKilled},
	{"strangers reach what is public alone", step.testNetwork},

	{"venues open", step.testVenuesOpen},
	{"suspending the chain closes them", step.testSuspend},
	{"an outage of the chain's nodes closes them", step.testOutage},
	{"an indexer that hangs closes them", step.testHang},
	{"a paused contract closes its venue alone", step.testPaused},

	{"whoever collects metrics gets them", step.testMetrics},
	{"a Chain says what its indexer lacks", step.testCauses},
	{"a second release is refused", step.testSecondRelease},

	{"an upgrade keeps the data", step.testUpgrade},
	{"a rollback keeps the data", step.testRollback},
	{"with a profile on the node the browser has its sandbox", step.testSandbox},
	{"the database's pod may be replaced", step.testDatabaseRestart},
	{"what all indexers have in common changes", step.testSettings},
	{"the database's password changes while programs run", step.testPassword},
	{"a database that isn't there reaches no indexer", step.testTrial},

	{"a deleted Chain leaves nothing", step.testChainDeleted},
	{"a Chain that comes back goes on where it was", step.testChainBack},
	{"nobody crashed or asked for what it may not", step.testConduct},
	{"uninstalling leaves what can't be had again", step.testUninstall},
	{"another installation goes on where the last one was", step.testReinstall},
}

// TestBoardwalkOnARealNode goes through the scenario.
func TestBoardwalkOnARealNode(t *testing.T) {
	c := newCluster(t)
	for _, s := range scenario {
		c.run(t, s.name, s.do)
	}
}
