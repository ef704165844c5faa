module github.com/acemq/acemq-core/bindings/go

go 1.24
