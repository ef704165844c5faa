package acemq_test

import (
	"encoding/json"
	"strings"
	"testing"

	acemq "github.com/acemq/acemq-core/bindings/go"
)

func vhostOf(document string) acemq.Source {
	return acemq.FromTopology(acemq.ParseTopology(document), acemq.BrokerVersion{RabbitMQ: "4.0.5"})
}

func TestAnAuditNamesWhatWouldBeLost(t *testing.T) {
	vhost := vhostOf("queues: { q: { dead_letter_to: nobody } }")
	audit := must(acemq.AuditVHost(vhost, ""))
	if len(audit.Findings) == 0 || audit.Findings[0].Object.Name != "q" {
		t.Fatalf("%+v", audit.Findings)
	}
	explained := string(must(acemq.ExplainFinding(audit.Findings[0].Code)))
	if !strings.Contains(explained, audit.Findings[0].Code) {
		t.Error(explained)
	}
	_, err := acemq.ExplainFinding("no_such_code")
	refused(t, err, "unknown_finding")
	if picture := must(acemq.Draw(vhost, acemq.DOT, acemq.PictureOptions{All: true})); !strings.HasPrefix(picture, "digraph") {
		t.Error(picture)
	}
}

const replacing = `{"acemq_migration": 1, "replace": {"queue": "q", "with": {"name": "q.v2", "type": "quorum"}}}`

func TestAMigrationIsDrivenOrderByOrder(t *testing.T) {
	vhost := vhostOf("queues: { q: { type: classic } }\nbindings: [{ queue: q, exchange: amq.topic, routing_key: k }]")
	plan := must(acemq.PlanMigration(replacing, vhost))
	if plan.Refused != "" || !strings.Contains(plan.Text, "declare queue q.v2") {
		t.Fatal(plan)
	}
	migration := acemq.Migration{File: replacing}
	order := must(migration.Next(vhost, 0, nil))
	var action struct{ Action string }
	if err := json.Unmarshal(order.Action, &action); err != nil {
		t.Fatal(err)
	}
	equal(t, order.Kind, acemq.OrderDo)
	equal(t, action.Action, "declare_queue")
	equal(t, order.Step, 1)

	// Nothing was done, so there is nothing to take back.
	back := acemq.Migration{File: replacing, Direction: acemq.Back, Beginning: plan.Beginning}
	equal(t, must(back.Next(vhost, 0, nil)).Kind, acemq.OrderFinished)
	_, err := acemq.PlanUndo("replace: 5", vhost, nil)
	refused(t, err, "migration_syntax")
}
