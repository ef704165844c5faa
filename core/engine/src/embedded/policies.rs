//! Policies: set by whoever administers the broker, in force at once.

use super::EmbeddedBroker;
use super::settings::Settings;
use crate::policy::Policies;
use crate::rabbitmq::{Broker, ExchangeDeclaration, PolicyDeclaration, QueueDeclaration};
use crate::state::State;
use crate::value::Value;
use std::collections::BTreeSet;

impl EmbeddedBroker {
    /// Sets a policy, or replaces the one of that name. What RabbitMQ would refuse as a policy is not checked.
    pub fn set_policy(&mut self, policy: PolicyDeclaration) {
        put(&mut self.policies, policy);
        self.apply_policies();
    }

    /// Sets an operator policy, or replaces the one of that name.
    pub fn set_operator_policy(&mut self, policy: PolicyDeclaration) {
        put(&mut self.operator_policies, policy);
        self.apply_policies();
    }

    /// Takes a policy away; `false` when there was none of that name.
    pub fn clear_policy(&mut self, name: &str) -> bool {
        let before = self.policies.len();
        self.policies.retain(|policy| policy.name != name);
        self.apply_policies();
        self.policies.len() < before
    }

    /// Takes an operator policy away; `false` when there was none of that name.
    pub fn clear_operator_policy(&mut self, name: &str) -> bool {
        let before = self.operator_policies.len();
        self.operator_policies.retain(|policy| policy.name != name);
        self.apply_policies();
        self.operator_policies.len() < before
    }

    /// Why some settings cannot be told, as sentences: policies of equal priority, patterns that only the broker can read.
    /// What cannot be told counts as not set here.
    pub fn uncertainties(&self) -> Vec<String> {
        let state = self.policy_state();
        let policies = Policies::new(&state);
        let queues = self.queues.values().map(|queue| policies.effective(&queue.declaration));
        let exchanges = self.router.declarations().map(|exchange| policies.effective_exchange(exchange));
        let open: BTreeSet<String> = queues.chain(exchanges).flat_map(|effective| effective.open).collect();
        open.into_iter().collect()
    }

    /// A state that holds the policies and nothing else.
    fn policy_state(&self) -> State {
        let mut state = State::empty(Broker::rabbitmq(self.conditions.version), self.conditions.vhost.clone());
        state.policies.clone_from(&self.policies);
        state.operator_policies.clone_from(&self.operator_policies);
        state
    }

    /// The settings of a queue under the present policies.
    pub(super) fn settings(&self, queue: &QueueDeclaration) -> Settings {
        let state = self.policy_state();
        Settings::of(self.conditions.version, queue, &Policies::new(&state).effective(queue))
    }

    pub(super) fn add_exchange(&mut self, exchange: ExchangeDeclaration) {
        let name = exchange.name.clone();
        self.router.add_exchange(exchange);
        if !self.policies.is_empty() {
            let state = self.policy_state();
            self.set_alternate(&Policies::new(&state), &name);
        }
    }

    /// Brings every queue and exchange under the present policies.
    pub(super) fn apply_policies(&mut self) {
        let state = self.policy_state();
        let policies = Policies::new(&state);
        let version = self.conditions.version;
        for queue in self.queues.values_mut() {
            queue.settings = Settings::of(version, &queue.declaration, &policies.effective(&queue.declaration));
        }
        let exchanges: Vec<String> = self.router.declarations().map(|exchange| exchange.name.clone()).collect();
        for exchange in exchanges {
            self.set_alternate(&policies, &exchange);
        }
        let queues: Vec<String> = self.queues.keys().cloned().collect();
        for queue in queues {
            self.enforce_limits(&queue);
            self.expire(&queue);
        }
        self.settle_down();
    }

    fn set_alternate(&mut self, policies: &Policies<'_>, exchange: &str) {
        let Some(declaration) = self.router.declaration(exchange) else { return };
        let effective = policies.effective_exchange(declaration);
        let alternate = effective.value("alternate-exchange").and_then(Value::as_text).map(str::to_owned);
        self.router.set_policy_alternate(exchange, alternate);
    }
}

fn put(policies: &mut Vec<PolicyDeclaration>, policy: PolicyDeclaration) {
    match policies.iter_mut().find(|known| known.name == policy.name) {
        Some(known) => *known = policy,
        None => policies.push(policy),
    }
}
