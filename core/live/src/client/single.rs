//! Single operations with a `Result`, for programs that declare a thing or two.

use super::Client;
use crate::operation::{Answer, Cause, Done, Operation, OperationError, QueueStatus};
use crate::transport::Broker;
use acemq_core::rabbitmq::{BindingDeclaration, ExchangeDeclaration, QueueDeclaration, Refused};

/// Every error tells what was to be done and carries the broker's code and text, or why there was no answer.
impl<B: Broker> Client<B> {
    /// Declares a queue. An exclusive one lives as long as the connection, which a client replaces now and then.
    pub async fn declare_queue(&self, queue: &QueueDeclaration) -> Result<QueueStatus, OperationError> {
        let operation = Operation::DeclareQueue(queue.clone());
        let done = self.single(&operation).await?;
        Ok(status(done, &queue.name))
    }

    /// Looks up a queue; `None` when the broker says that there is none.
    pub async fn queue(&self, name: &str) -> Result<Option<QueueStatus>, OperationError> {
        let operation = Operation::LookUpQueue(name.to_owned());
        match self.single(&operation).await {
            Ok(done) => Ok(Some(status(done, name))),
            Err(error) if error.refused().is_some_and(|refused| says_absent(refused, "queue")) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether there is a queue of that name.
    pub async fn queue_exists(&self, name: &str) -> Result<bool, OperationError> {
        Ok(self.queue(name).await?.is_some())
    }

    /// How many messages of a queue are ready, exact at this moment. A queue that is not there is an error.
    pub async fn message_count(&self, queue: &str) -> Result<u32, OperationError> {
        let done = self.single(&Operation::LookUpQueue(queue.to_owned())).await?;
        Ok(status(done, queue).messages)
    }

    /// Deletes a queue with everything in it; gives the number of ready messages. A queue that is not there is no error.
    pub async fn delete_queue(&self, name: &str) -> Result<u32, OperationError> {
        match self.single(&Operation::DeleteQueue(name.to_owned())).await {
            Ok(Done::Deleted { messages }) => Ok(messages),
            Ok(_) => Ok(0),
            // RabbitMQ answers that with an -ok; other products refuse.
            Err(error) if error.refused().is_some_and(|refused| says_absent(refused, "queue")) => Ok(0),
            Err(error) => Err(error),
        }
    }

    /// Declares an exchange.
    pub async fn declare_exchange(&self, exchange: &ExchangeDeclaration) -> Result<(), OperationError> {
        self.single(&Operation::DeclareExchange(exchange.clone())).await.map(drop)
    }

    /// Whether there is an exchange of that name.
    pub async fn exchange_exists(&self, name: &str) -> Result<bool, OperationError> {
        match self.single(&Operation::LookUpExchange(name.to_owned())).await {
            Ok(_) => Ok(true),
            Err(error) if error.refused().is_some_and(|refused| says_absent(refused, "exchange")) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Deletes an exchange, whatever is bound to it. One that is not there is no error.
    pub async fn delete_exchange(&self, name: &str) -> Result<(), OperationError> {
        match self.single(&Operation::DeleteExchange(name.to_owned())).await {
            Err(error) if error.refused().is_some_and(|refused| says_absent(refused, "exchange")) => Ok(()),
            other => other.map(drop),
        }
    }

    /// Binds a queue or an exchange to an exchange.
    pub async fn bind(&self, binding: &BindingDeclaration) -> Result<(), OperationError> {
        self.single(&Operation::Bind(binding.clone())).await.map(drop)
    }

    /// Removes a binding. One that is not there is no error.
    pub async fn unbind(&self, binding: &BindingDeclaration) -> Result<(), OperationError> {
        self.single(&Operation::Unbind(binding.clone())).await.map(drop)
    }

    async fn single(&self, operation: &Operation) -> Result<Done, OperationError> {
        let cause = match self.ask(operation).await {
            Answer::Done(done) => return Ok(done),
            Answer::Refused(refused) => Cause::Refused(refused),
            Answer::Failed(failure) => Cause::Failed(failure),
        };
        Err(OperationError { operation: operation.describe(), cause })
    }
}

fn status(done: Done, name: &str) -> QueueStatus {
    match done {
        Done::Queue(status) => status,
        _ => QueueStatus { name: name.to_owned(), messages: 0, consumers: 0 },
    }
}

/// Only this wording means that it is not there: a 404 also comes when the node of a queue is down.
fn says_absent(refused: &Refused, kind: &str) -> bool {
    refused.code == 404 && refused.text.starts_with(&format!("NOT_FOUND - no {kind} '"))
}
