module github.com/acemq/acemq-core/bindings/go/examples

go 1.24

require (
	github.com/acemq/acemq-core/bindings/go v0.0.0
	github.com/rabbitmq/amqp091-go v1.16.0
)

replace github.com/acemq/acemq-core/bindings/go => ../
